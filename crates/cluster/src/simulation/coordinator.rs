//! A simulated coordinator process: the production state machines, and a caller that keeps a
//! journal.

use super::server::{ReaderMessage, ResultMessage};
use super::{RUN, VERSION, value_of};
use crate::coordinator::state_machine::{Action, BatchStateMachine, IncomingResult, PollInput};
use crate::in_flight::Time;
use crate::result_cursor::ResultCursor;
use crate::wire::{QueueNames, short_checksum};
use crate::worker_registry::WorkerRegistry;
use outflank_runs::Ack;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::ops::Range;
use std::time::Instant;

/// The persistent state of a coordinator: the journal and the quarantined workers.
#[derive(Default)]
pub(super) struct Journal {
    /// Value and worker of each game, in order.
    pub(super) games: Vec<(u64, String)>,
    pub(super) quarantined: BTreeSet<String>,
    /// Number of games that were accepted and not redone.
    pub(super) accepted: u64,
}

/// The state that a coordinator loses when it is killed.
pub(super) struct Coordinator {
    pub(super) machine: BatchStateMachine,
    pub(super) registry: WorkerRegistry,
    pub(super) cursor: ResultCursor,
    pub(super) ready: VecDeque<IncomingResult>,
    pub(super) reader: ReaderState,
    /// Number of games in the journal when the batch started.
    first_game: usize,
    /// Results that wait for those of earlier jobs.
    pending: BTreeMap<usize, (u64, String)>,
    /// Unanswered publications by request number.
    pub(super) publications: BTreeMap<u64, (String, String)>,
    pub(super) list_request: Option<u64>,
}

/// The reader's connection to the results stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ReaderState {
    Closed,
    /// Waits for the server to open a consumer, since this time.
    Opening(Time),
    Open(u64),
    /// A request of this consumer is open, since this time.
    Pulling(u64, Time),
}

impl Coordinator {
    /// Starts a batch with the games that the journal lacks.
    pub(super) fn new(
        journal: &Journal,
        games: usize,
        process: &str,
        queued: &[String],
        now: Time,
    ) -> Coordinator {
        let names = QueueNames::new("q", VERSION);
        let queued: HashSet<String> = queued
            .iter()
            .filter_map(|subject| names.parse_task(subject))
            .filter(|name| name.run == short_checksum(RUN))
            .map(|name| name.task)
            .collect();
        let first_game = journal.games.len();
        Coordinator {
            machine: BatchStateMachine::new(
                "kind",
                games - first_game,
                VERSION,
                process,
                queued,
                now,
            ),
            registry: WorkerRegistry::default(),
            cursor: ResultCursor::new(),
            ready: VecDeque::new(),
            reader: ReaderState::Closed,
            first_game,
            pending: BTreeMap::new(),
            publications: BTreeMap::new(),
            list_request: None,
        }
    }

    /// Lets the machine act.
    pub(super) fn poll(&mut self, now: Time, base: Instant) -> Vec<Action> {
        self.registry.remove_lost(VERSION, base + now);
        let input = PollInput {
            now,
            is_connected: true,
            workers: self.registry.worker_count(VERSION),
            threads: self.registry.thread_count(VERSION),
            has_pending_results: self.cursor.has_pending() || !self.ready.is_empty(),
            last_result: (self.ready.front())
                .map_or(self.cursor.last_read(), |first| first.sequence - 1),
        };
        let first = self.first_game;
        self.machine.poll(input, &|range: Range<usize>| {
            let games = range.map(|game| (first + game).to_string());
            games.collect::<Vec<_>>().join(" ").into_bytes()
        })
    }

    /// Processes a message for the reader of results. Closes the reader if a new consumer is needed.
    pub(super) fn read(&mut self, consumer: u64, message: ReaderMessage, now: Time) {
        let ReaderState::Pulling(id, since) = self.reader else { return };
        if id != consumer {
            return;
        }
        match message {
            ReaderMessage::End => {
                self.cursor.request_ended(now.saturating_sub(since));
                self.reader = ReaderState::Open(id);
            }
            ReaderMessage::Result { consumer_sequence, sequence, pending, message } => {
                if !self.cursor.receive(consumer_sequence, sequence, pending) {
                    self.reader = ReaderState::Closed;
                    return;
                }
                let is_old = self.cursor.is_old(sequence);
                self.ready.extend(parse(sequence, is_old, message));
            }
        }
    }

    /// Processes the next result. Returns the actions, and the worker that must be quarantined.
    pub(super) fn process(
        &mut self,
        journal: &mut Journal,
        should_verify: &mut dyn FnMut() -> bool,
        now: Time,
    ) -> (Vec<Action>, Option<String>) {
        let Some(result) = self.ready.pop_front() else { return (Vec::new(), None) };
        let mut worker_to_quarantine = None;
        let is_quarantined = journal.quarantined.contains(&result.worker);
        let (pending, first) = (&mut self.pending, self.first_game);
        let mut accept = |range: Range<usize>, worker: &str, content: &[u8]| {
            assert!(!journal.quarantined.contains(worker), "a quarantined worker's result");
            let text = String::from_utf8_lossy(content);
            let values: Option<Vec<u64>> = text.split(' ').map(|word| word.parse().ok()).collect();
            let Some(values) = values.filter(|values| values.len() == range.len()) else {
                return Ack::Rejected("not the games of the task".to_owned());
            };
            for (game, value) in range.zip(values) {
                if should_verify() && value != value_of(first + game) {
                    worker_to_quarantine = Some(worker.to_owned());
                    return Ack::Stop;
                }
                let twice = pending.insert(game, (value, worker.to_owned()));
                assert!(twice.is_none(), "game {game} was accepted twice");
            }
            while let Some(game) = pending.remove(&(journal.games.len() - first)) {
                journal.games.push(game);
                journal.accepted += 1;
            }
            Ack::Accepted
        };
        let actions = self.machine.on_result(&result, is_quarantined, &mut accept, now);
        (actions, worker_to_quarantine)
    }
}

fn parse(sequence: u64, is_old: bool, message: ResultMessage) -> Option<IncomingResult> {
    let name = QueueNames::new("q", VERSION).parse_result(&message.subject)?;
    Some(IncomingResult {
        sequence,
        is_old,
        task: name.task,
        message_id: message.message_id,
        worker: message.worker,
        version: message.version,
        failed: message.failed,
        checksum: message.checksum,
        seconds: message.seconds,
        content: Ok(message.content),
    })
}
