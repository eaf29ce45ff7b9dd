//! One schedule: nodes, a network and faults under one seeded scheduler.

use super::coordinator::{Coordinator, Journal, ReaderState};
use super::server::{
    AckKind, DeliveryId, FetchAddress, RESULT_REQUEST_EXPIRY, ReaderMessage, ResultMessage, Server,
    TASK_REQUEST_EXPIRY, TaskMessage,
};
use super::worker::{TaskRun, Thread, Worker};
use super::{RUN, VERSION, value_of};
use crate::coordinator::state_machine::Action;
use crate::in_flight::Time;
use crate::wire::{Heartbeat, QueueNames, short_checksum};
use crate::worker::state_machine::TaskAction;
use outflank_runs::files::checksum;
use outflank_runs::rng::{Rng, RngExt, stream};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Time after which a request without an answer counts as failed.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval at which a node looks at its clock.
const TICK: Duration = Duration::from_millis(250);

/// Time after the last fault within which every schedule must finish.
const LIVENESS_LIMIT: Duration = Duration::from_secs(4000);

/// The parameters of a schedule, drawn from its seed.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    pub(super) loss: f64,
    pub(super) duplication: f64,
    /// Probability of a delay of up to 20 s.
    pub(super) slow: f64,
    /// Mean number of other faults per second.
    pub(super) rate: f64,
    pub(super) end: Time,
}

/// A message on the network, or a timer.
#[derive(Clone, Debug)]
enum Event {
    ServerTick,
    CoordinatorTick(u64),
    WorkerTick(usize, u64),
    Heartbeat(usize, u64),
    /// Requests to the server.
    Publish {
        from: u64,
        request: u64,
        message: TaskMessage,
    },
    List {
        from: u64,
        request: u64,
    },
    DescribeAndOpen {
        from: u64,
    },
    Open {
        from: u64,
        start: u64,
    },
    Pull {
        consumer: u64,
    },
    CreateStreams,
    PurgeResults(u64),
    PurgeRun {
        keep_results: bool,
    },
    Fetch(FetchAddress),
    Ack(DeliveryId, AckKind),
    Store {
        from: (usize, u64, usize, u64),
        request: u64,
        message: ResultMessage,
    },
    /// Messages to the coordinator, with its incarnation.
    Published {
        to: u64,
        request: u64,
        answer: Result<bool, String>,
    },
    Listed {
        to: u64,
        request: u64,
        subjects: Option<Vec<String>>,
    },
    Described {
        to: u64,
        description: Option<(String, u64)>,
    },
    Opened {
        to: u64,
        opened: Option<(u64, u64)>,
    },
    Reader {
        to: u64,
        consumer: u64,
        message: ReaderMessage,
    },
    Beat {
        to: u64,
        heartbeat: Heartbeat,
    },
    /// Messages to a thread of a worker.
    Delivered(FetchAddress, DeliveryId, TaskMessage),
    Executed {
        worker: usize,
        incarnation: u64,
        thread: usize,
        serial: u64,
    },
    Stored {
        to: (usize, u64, usize, u64),
        request: u64,
        answer: Result<(), String>,
    },
    /// Faults.
    Fault,
    StartCoordinator,
    StartWorker(usize),
    StartServer,
    FreeDisk,
}

/// The figures of a finished schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) events: u64,
    pub(super) seconds: u64,
    /// Number of coordinators that were started.
    pub(super) coordinators: u64,
    pub(super) faults: u64,
    /// Number of executed tasks.
    pub(super) executions: u64,
    /// Checksum over all events.
    pub(super) trace: u64,
}

pub(super) struct World {
    rng: Rng,
    now: Time,
    /// A fixed start for functions that take an `Instant`.
    base: Instant,
    events: BTreeMap<(Time, u64), Event>,
    sequence: u64,
    games: usize,
    faults: Faults,
    server: Server,
    coordinator: Option<Coordinator>,
    incarnation: u64,
    journal: Journal,
    workers: Vec<Worker>,
    /// How far the clock of a node is ahead: server, coordinator, workers.
    clocks: Vec<Duration>,
    /// Time until which a node does nothing.
    paused: Vec<Time>,
    outcome: Outcome,
    is_finished: bool,
}

const SERVER: usize = 0;
const COORDINATOR: usize = 1;

impl World {
    pub(super) fn new(seed: u64) -> World {
        let mut rng = stream(seed, &["cluster simulation"]);
        let pick = |rng: &mut Rng, choices: &[f64]| *rng.pick(choices).unwrap_or(&0.0);
        let faults = Faults {
            loss: pick(&mut rng, &[0.0, 0.01, 0.1, 0.3]),
            duplication: pick(&mut rng, &[0.0, 0.02, 0.2]),
            slow: pick(&mut rng, &[0.0, 0.02, 0.1]),
            rate: pick(&mut rng, &[0.0, 0.1, 0.5, 1.0]),
            end: Duration::from_secs(10 + u64::from(rng.below(50))),
        };
        let count = 1 + rng.below(4) as usize;
        let mut workers: Vec<Worker> = (0..count)
            .map(|number| Worker::new(number, 0, 1 + rng.below(2) as usize, false))
            .collect();
        if rng.chance(0.2) {
            workers.push(Worker { forges: true, ..Worker::new(count, 0, 1, true) });
        }
        let games = 1 + rng.below(150) as usize;
        let nodes = workers.len() + 2;
        let mut world = World {
            rng,
            now: Time::ZERO,
            base: Instant::now(),
            events: BTreeMap::new(),
            sequence: 0,
            games,
            faults,
            server: Server::default(),
            coordinator: None,
            incarnation: 0,
            journal: Journal::default(),
            workers,
            clocks: vec![Duration::ZERO; nodes],
            paused: vec![Time::ZERO; nodes],
            outcome: Outcome {
                events: 0,
                seconds: 0,
                coordinators: 0,
                faults: 0,
                executions: 0,
                trace: 0,
            },
            is_finished: false,
        };
        world.server.set_up();
        world.schedule(Duration::ZERO, Event::ServerTick);
        world.schedule(Duration::ZERO, Event::StartCoordinator);
        world.schedule(Duration::ZERO, Event::Fault);
        for number in 0..world.workers.len() {
            world.start_worker_timers(number);
        }
        world
    }

    /// Runs the schedule to its end. Panics if a game is lost, doubled or wrong, or if the schedule
    /// does not finish.
    pub(super) fn run(mut self) -> Outcome {
        while !self.is_finished {
            let Some(((time, sequence), event)) = self.events.pop_first() else {
                panic!("no events are left");
            };
            self.now = self.now.max(time);
            let limit = self.faults.end + LIVENESS_LIMIT;
            assert!(
                self.now < limit,
                "{} of {} games after {limit:?}",
                self.journal.games.len(),
                self.games
            );
            // A paused node sees its events when it continues.
            let until = self.node(&event).map_or(Time::ZERO, |node| self.paused[node]);
            if until > self.now {
                self.events.insert((until, sequence), event);
                continue;
            }
            self.outcome.events += 1;
            let discriminant = format!("{:?}", std::mem::discriminant(&event));
            let words = [self.now.as_nanos() as u64, sequence, discriminant.len() as u64];
            for word in words {
                self.outcome.trace = (self.outcome.trace ^ word).wrapping_mul(0x0100_0000_01b3);
            }
            self.handle(event);
        }
        let values: Vec<u64> = self.journal.games.iter().map(|(value, _)| *value).collect();
        let expected: Vec<u64> = (0..self.games).map(value_of).collect();
        assert_eq!(values, expected, "games are lost, doubled or wrong");
        self.outcome.seconds = self.now.as_secs();
        self.outcome
    }

    /// The node that handles an event.
    fn node(&self, event: &Event) -> Option<usize> {
        match event {
            Event::ServerTick
            | Event::Publish { .. }
            | Event::List { .. }
            | Event::DescribeAndOpen { .. }
            | Event::Open { .. }
            | Event::Pull { .. }
            | Event::CreateStreams
            | Event::PurgeResults(_)
            | Event::PurgeRun { .. }
            | Event::Fetch(_)
            | Event::Ack(..)
            | Event::Store { .. } => Some(SERVER),
            Event::CoordinatorTick(_)
            | Event::Published { .. }
            | Event::Listed { .. }
            | Event::Described { .. }
            | Event::Opened { .. }
            | Event::Reader { .. }
            | Event::Beat { .. } => Some(COORDINATOR),
            Event::WorkerTick(worker, _)
            | Event::Heartbeat(worker, _)
            | Event::Delivered((worker, ..), ..)
            | Event::Executed { worker, .. }
            | Event::Stored { to: (worker, ..), .. } => Some(2 + worker),
            _ => None,
        }
    }

    fn schedule(&mut self, delay: Duration, event: Event) {
        self.sequence += 1;
        self.events.insert((self.now + delay, self.sequence), event);
    }

    /// Sends a message over the network, which loses, duplicates, delays and reorders.
    fn send(&mut self, event: Event) {
        let has_faults = self.now < self.faults.end;
        if has_faults && self.rng.chance(self.faults.loss) {
            return;
        }
        let copies = if has_faults && self.rng.chance(self.faults.duplication) { 2 } else { 1 };
        for _ in 0..copies {
            let mut delay = Duration::from_micros(u64::from(500 + self.rng.below(20_000)));
            // Messages of one request come through one connection, mostly in order.
            if let Event::Reader { .. } = event {
                delay = Duration::from_millis(5);
            }
            if has_faults && self.rng.chance(self.faults.slow) {
                delay += Duration::from_millis(u64::from(self.rng.below(20_000)));
            }
            self.schedule(delay, event.clone());
        }
    }

    /// The time on the clock of a node.
    fn clock(&self, node: usize) -> Time {
        self.now + self.clocks[node]
    }

    fn new_number(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    fn start_worker_timers(&mut self, number: usize) {
        let incarnation = self.workers[number].incarnation;
        self.schedule(TICK, Event::WorkerTick(number, incarnation));
        self.schedule(Duration::ZERO, Event::Heartbeat(number, incarnation));
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Fault => self.cause_fault(),
            Event::StartCoordinator => self.start_coordinator(),
            Event::StartWorker(number) => {
                let old = &self.workers[number];
                let threads = old.threads.len();
                self.workers[number] =
                    Worker::new(number, old.incarnation + 1, threads, old.forges);
                self.start_worker_timers(number);
            }
            Event::StartServer => {
                self.server.is_down = false;
                self.server.restart();
            }
            Event::FreeDisk => self.server.disk_is_full = false,
            Event::WorkerTick(..)
            | Event::Heartbeat(..)
            | Event::Delivered(..)
            | Event::Executed { .. }
            | Event::Stored { .. } => self.handle_at_worker(event),
            _ if self.node(&event) == Some(SERVER) => self.handle_at_server(event),
            _ => self.handle_at_coordinator(event),
        }
    }

    // The server.

    fn handle_at_server(&mut self, event: Event) {
        let now = self.clock(SERVER);
        if let Event::ServerTick = event {
            self.schedule(TICK, Event::ServerTick);
        }
        if self.server.is_down {
            return;
        }
        match event {
            Event::Publish { from, request, message } => {
                let answer = self.server.publish(message, now);
                self.send(Event::Published { to: from, request, answer });
            }
            Event::List { from, request } => {
                let subjects = self.server.exists.then(|| self.server.list());
                self.send(Event::Listed { to: from, request, subjects });
            }
            Event::DescribeAndOpen { from } => {
                let description = self.server.describe_results();
                self.send(Event::Described { to: from, description });
            }
            Event::Open { from, start } => {
                let opened = self.server.open_consumer(start);
                self.send(Event::Opened { to: from, opened });
            }
            Event::Pull { consumer } => {
                self.server.pull(consumer, 256, now);
            }
            Event::CreateStreams => self.server.set_up(),
            Event::PurgeResults(before) => self.server.purge_results(before),
            Event::PurgeRun { keep_results } => {
                self.server.purge_run(&short_checksum(RUN), keep_results);
            }
            Event::Fetch(address) => self.server.fetch(address, now),
            Event::Ack(delivery, kind) => self.server.acknowledge(delivery, kind, now),
            Event::Store { from, request, message } => {
                let answer = self.server.store(message, now);
                self.send(Event::Stored { to: from, request, answer });
            }
            _ => {}
        }
        for (to, delivery, message) in self.server.deliveries(now) {
            self.send(Event::Delivered(to, delivery, message));
        }
        let to = self.incarnation;
        for (consumer, message) in self.server.reader_messages(now) {
            self.send(Event::Reader { to, consumer, message });
        }
    }

    // The coordinator.

    fn start_coordinator(&mut self) {
        self.incarnation += 1;
        self.outcome.coordinators += 1;
        // Listing the queue needs the server: a coordinator that cannot do so does not start.
        if self.server.is_down || !self.server.exists {
            self.server.set_up();
            return self.schedule(Duration::from_secs(1), Event::StartCoordinator);
        }
        self.start_batch();
        self.schedule(TICK, Event::CoordinatorTick(self.incarnation));
    }

    /// Starts a batch with all games that the journal lacks.
    fn start_batch(&mut self) {
        let number = self.new_number();
        let process = format!("process-{}-{number}", self.incarnation);
        let (now, queued) = (self.clock(COORDINATOR), self.server.list());
        self.coordinator =
            Some(Coordinator::new(&self.journal, self.games, &process, &queued, now));
    }

    fn handle_at_coordinator(&mut self, event: Event) {
        let now = self.clock(COORDINATOR);
        let base = self.base;
        let Some(node) = &mut self.coordinator else { return };
        let mut actions = Vec::new();
        match event {
            Event::CoordinatorTick(to) if to == self.incarnation => {
                actions = node.poll(now, base);
                self.read_results();
                self.schedule(TICK, Event::CoordinatorTick(to));
            }
            Event::Published { to, request, answer } if to == self.incarnation => {
                if let Some((task, id)) = node.publications.remove(&request) {
                    actions = node.machine.on_published(&task, &id, answer, now);
                }
            }
            Event::Listed { to, request, subjects }
                if to == self.incarnation && node.list_request == Some(request) =>
            {
                node.list_request = None;
                let names = QueueNames::new("q", VERSION);
                let queued = subjects.map(|subjects| {
                    subjects.iter().filter_map(|s| names.parse_task(s)).map(|n| n.task).collect()
                });
                actions = node.machine.on_listed(queued.as_ref(), now);
            }
            Event::Described { to, description } if to == self.incarnation => {
                if let (ReaderState::Opening(_), Some((created, last))) = (node.reader, description)
                {
                    let start = node.cursor.start_consumer(&created, last);
                    node.reader = ReaderState::Opening(now);
                    self.send(Event::Open { from: to, start });
                }
            }
            Event::Opened { to, opened } if to == self.incarnation => {
                if let (ReaderState::Opening(_), Some((id, pending))) = (node.reader, opened) {
                    node.cursor.on_consumer_created(pending);
                    node.reader = ReaderState::Open(id);
                    self.read_results();
                }
            }
            Event::Reader { to, consumer, message } if to == self.incarnation => {
                node.read(consumer, message, now);
                return self.process_results();
            }
            Event::Beat { to, heartbeat } if to == self.incarnation => {
                node.registry.update(heartbeat, VERSION, base + now);
            }
            _ => {}
        }
        self.perform(actions);
    }

    /// Opens a consumer or a request of it, if there is none.
    fn read_results(&mut self) {
        let (now, from) = (self.clock(COORDINATOR), self.incarnation);
        let Some(node) = &mut self.coordinator else { return };
        match node.reader {
            ReaderState::Opening(since) if now.saturating_sub(since) < REQUEST_TIMEOUT => {}
            ReaderState::Pulling(_, since)
                if now.saturating_sub(since) < RESULT_REQUEST_EXPIRY + Duration::from_secs(2) => {}
            ReaderState::Open(consumer) => {
                node.reader = ReaderState::Pulling(consumer, now);
                self.send(Event::Pull { consumer });
            }
            ReaderState::Closed | ReaderState::Opening(_) | ReaderState::Pulling(..) => {
                node.cursor.close();
                node.reader = ReaderState::Opening(now);
                self.send(Event::CreateStreams);
                self.send(Event::DescribeAndOpen { from });
            }
        }
    }

    fn process_results(&mut self) {
        let now = self.clock(COORDINATOR);
        loop {
            let Some(node) = &mut self.coordinator else { return };
            if node.ready.is_empty() || node.machine.end().is_some() {
                break;
            }
            let rng = &mut self.rng;
            let mut should_verify = || rng.chance(0.3);
            let (actions, worker_to_quarantine) =
                node.process(&mut self.journal, &mut should_verify, now);
            if let Some(worker_to_quarantine) = worker_to_quarantine {
                return self.redo_games_of(worker_to_quarantine);
            }
            self.perform(actions);
        }
        self.read_results();
        self.finish_batch();
    }

    /// Quarantines a worker, deletes its games and all later ones, and starts the batch again.
    fn redo_games_of(&mut self, worker: String) {
        let first = self.journal.games.iter().position(|(_, by)| *by == worker);
        let first = first.unwrap_or(self.journal.games.len());
        self.journal.accepted -= (self.journal.games.len() - first) as u64;
        self.journal.games.truncate(first);
        self.journal.quarantined.insert(worker);
        self.send(Event::PurgeRun { keep_results: false });
        self.start_batch();
    }

    fn finish_batch(&mut self) {
        let Some(node) = &self.coordinator else { return };
        match node.machine.end() {
            None => {}
            Some(Err(_)) => {
                // The user starts the command again.
                self.send(Event::PurgeRun { keep_results: true });
                self.coordinator = None;
                self.schedule(Duration::from_secs(1), Event::StartCoordinator);
            }
            Some(Ok(())) => {
                assert_eq!(self.journal.games.len(), self.games, "the batch ended early");
                assert_eq!(self.journal.accepted, self.games as u64);
                // The samples that are verified last.
                let is_wrong =
                    |&(game, (value, _)): &(usize, &(u64, String))| *value != value_of(game);
                match self.journal.games.iter().enumerate().find(is_wrong) {
                    Some((_, (_, worker))) => self.redo_games_of(worker.clone()),
                    None => self.is_finished = true,
                }
            }
        }
    }

    fn perform(&mut self, actions: Vec<Action>) {
        let from = self.incarnation;
        for action in actions {
            match action {
                Action::Publish(publication) => {
                    let request = self.new_number();
                    let names = QueueNames::new("q", VERSION);
                    let message = TaskMessage {
                        subject: names.task(&short_checksum(RUN), &publication.task),
                        message_id: publication.message_id.clone(),
                        kind: "kind".to_owned(),
                        version: VERSION.to_owned(),
                        content: publication.content,
                    };
                    if let Some(node) = &mut self.coordinator {
                        node.publications
                            .insert(request, (publication.task, publication.message_id));
                    }
                    self.send(Event::Publish { from, request, message });
                    let answer = Err("timeout".to_owned());
                    self.schedule(REQUEST_TIMEOUT, Event::Published { to: from, request, answer });
                }
                Action::ListTasks => {
                    let request = self.new_number();
                    if let Some(node) = &mut self.coordinator {
                        node.list_request = Some(request);
                    }
                    self.send(Event::List { from, request });
                    let lost = Event::Listed { to: from, request, subjects: None };
                    self.schedule(REQUEST_TIMEOUT, lost);
                }
                Action::CreateStreams => self.send(Event::CreateStreams),
                Action::PurgeResults { before } => self.send(Event::PurgeResults(before)),
                Action::RestoreBlobs
                | Action::ShowProblem(_)
                | Action::WarnNoWorkers
                | Action::Log(_) => {}
            }
        }
        self.finish_batch();
    }

    // Workers.

    fn handle_at_worker(&mut self, event: Event) {
        match event {
            Event::WorkerTick(number, incarnation) if self.is_worker(number, incarnation) => {
                self.tick_worker(number);
                self.schedule(TICK, Event::WorkerTick(number, incarnation));
            }
            Event::Heartbeat(number, incarnation) if self.is_worker(number, incarnation) => {
                let worker = &self.workers[number];
                let heartbeat = Heartbeat {
                    worker: worker.name(),
                    version: VERSION.to_owned(),
                    threads: worker.threads.len(),
                    leaving: false,
                    problem: String::new(),
                };
                self.send(Event::Beat { to: self.incarnation, heartbeat });
                self.schedule(Duration::from_secs(2), Event::Heartbeat(number, incarnation));
            }
            Event::Delivered((number, incarnation, thread, request), delivery, message)
                if self.is_worker(number, incarnation) =>
            {
                // A late or duplicate delivery is not received: its request is closed.
                let waiting = self.workers[number].threads[thread].fetch;
                if waiting.is_none_or(|(open, _)| open != request) {
                    return;
                }
                self.workers[number].threads[thread].fetch = None;
                let (serial, now) = (self.new_number(), self.clock(2 + number));
                let (run, actions) = self.workers[number].receive(serial, delivery, message, now);
                self.workers[number].threads[thread].executing = run;
                self.perform_task(number, thread, serial, delivery, actions);
            }
            Event::Executed { worker, incarnation, thread, serial }
                if self.is_worker(worker, incarnation) =>
            {
                self.outcome.executions += 1;
                let now = self.clock(2 + worker);
                let node = &mut self.workers[worker];
                let Some(mut run) = node.threads[thread].executing.take() else { return };
                let result = node.execute(&run.content);
                let (delivery, actions) =
                    (run.delivery, run.machine.on_executed(result, false, now));
                self.workers[worker].threads[thread].storing.push(run);
                self.perform_task(worker, thread, serial, delivery, actions);
            }
            Event::Stored { to: (number, incarnation, thread, serial), request, answer }
                if self.is_worker(number, incarnation) =>
            {
                let now = self.clock(2 + number);
                let Some(run) = self.workers[number].task(thread, serial) else { return };
                if run.store_request != Some(request) {
                    return;
                }
                run.store_request = None;
                let (delivery, actions) = (run.delivery, run.machine.on_stored(answer, now));
                self.perform_task(number, thread, serial, delivery, actions);
            }
            _ => {}
        }
    }

    fn is_worker(&self, number: usize, incarnation: u64) -> bool {
        let worker = &self.workers[number];
        worker.is_alive && worker.incarnation == incarnation
    }

    fn tick_worker(&mut self, number: usize) {
        let now = self.clock(2 + number);
        for thread in 0..self.workers[number].threads.len() {
            let Thread { executing, storing, .. } = &mut self.workers[number].threads[thread];
            let due: Vec<(u64, DeliveryId, Vec<TaskAction>)> = executing
                .iter_mut()
                .chain(storing.iter_mut())
                .map(|run: &mut TaskRun| (run.serial, run.delivery, run.machine.poll(now)))
                .collect();
            for (serial, delivery, actions) in due {
                self.perform_task(number, thread, serial, delivery, actions);
            }
            let incarnation = self.workers[number].incarnation;
            let request = self.new_number();
            let Thread { fetch, executing, storing } = &mut self.workers[number].threads[thread];
            storing.retain(|run| run.machine.next_time().is_some());
            let is_lost = fetch.is_some_and(|(_, until)| now >= until);
            if executing.is_none() && storing.len() <= 1 && (fetch.is_none() || is_lost) {
                *fetch = Some((request, now + TASK_REQUEST_EXPIRY + Duration::from_secs(2)));
                self.send(Event::Fetch((number, incarnation, thread, request)));
                self.send(Event::CreateStreams);
            }
        }
    }

    fn perform_task(
        &mut self,
        number: usize,
        thread: usize,
        serial: u64,
        delivery: DeliveryId,
        actions: Vec<TaskAction>,
    ) {
        let incarnation = self.workers[number].incarnation;
        for action in actions {
            let answer = match action {
                TaskAction::Execute => {
                    let delay = Duration::from_millis(u64::from(20 + self.rng.below(1500)));
                    let executed = Event::Executed { worker: number, incarnation, thread, serial };
                    self.schedule(delay, executed);
                    continue;
                }
                TaskAction::Store => {
                    self.store(number, thread, serial);
                    continue;
                }
                TaskAction::Progress => AckKind::Progress,
                TaskAction::Ack => AckKind::Ack,
                TaskAction::Term => AckKind::Term,
                TaskAction::Nak(delay) => AckKind::Nak(delay),
                TaskAction::ShowProblem(_) | TaskAction::Log(_) => continue,
            };
            self.send(Event::Ack(delivery, answer));
        }
        // A task that is reported as failed without execution.
        let Thread { executing, storing, .. } = &mut self.workers[number].threads[thread];
        if let Some(run) = executing.take_if(|run| run.machine.result().is_some()) {
            storing.push(run);
        }
    }

    fn store(&mut self, number: usize, thread: usize, serial: u64) {
        let request = self.new_number();
        let worker = &mut self.workers[number];
        let (name, incarnation) = (worker.name(), worker.incarnation);
        let Some(run) = worker.task(thread, serial) else { return };
        let Some(result) = run.machine.result().cloned() else { return };
        run.store_request = Some(request);
        let message = ResultMessage {
            subject: QueueNames::new("q", VERSION).result(&result.name.run, &result.name.task),
            message_id: result.message_id,
            worker: name,
            version: VERSION.to_owned(),
            failed: result.failed,
            checksum: checksum(&result.content),
            seconds: result.seconds,
            content: result.content,
        };
        let from = (number, incarnation, thread, serial);
        self.send(Event::Store { from, request, message });
        let answer = Err("timeout".to_owned());
        self.schedule(REQUEST_TIMEOUT, Event::Stored { to: from, request, answer });
    }

    // Faults.

    fn cause_fault(&mut self) {
        if self.faults.rate <= 0.0 || self.now >= self.faults.end {
            return;
        }
        let gap = Duration::from_secs_f64(2.0 * self.rng.unit() / self.faults.rate);
        self.schedule(gap.max(Duration::from_millis(10)), Event::Fault);
        self.outcome.faults += 1;
        let seconds =
            |rng: &mut Rng, limit: u32| Duration::from_millis(u64::from(rng.below(limit * 1000)));
        match self.rng.below(10) {
            0 => {
                // The coordinator dies; another one resumes.
                if self.coordinator.take().is_some() {
                    let delay = seconds(&mut self.rng, 10);
                    self.incarnation += 1;
                    self.schedule(delay, Event::StartCoordinator);
                }
            }
            1 | 2 => {
                // A worker dies; another one starts.
                let number = self.rng.below(self.workers.len() as u32) as usize;
                if self.workers[number].is_alive {
                    self.workers[number].is_alive = false;
                    let delay = seconds(&mut self.rng, 20);
                    self.schedule(delay, Event::StartWorker(number));
                }
            }
            3 | 4 => {
                // A node is suspended.
                let node = self.rng.below(self.paused.len() as u32) as usize;
                self.paused[node] = self.now + seconds(&mut self.rng, 25);
            }
            5 | 6 => {
                // A clock jumps ahead, by up to an hour.
                let node = self.rng.below(self.clocks.len() as u32) as usize;
                let jump = *self.rng.pick(&[1, 11, 60, 130, 3600]).unwrap_or(&1);
                self.clocks[node] += Duration::from_secs(jump);
            }
            7 => {
                self.server.is_down = true;
                let delay = seconds(&mut self.rng, 10);
                self.schedule(delay, Event::StartServer);
            }
            8 => {
                if self.rng.chance(0.3) {
                    self.server.lose_store();
                } else {
                    self.server.disk_is_full = true;
                    let delay = seconds(&mut self.rng, 10);
                    self.schedule(delay, Event::FreeDisk);
                }
            }
            _ => self.send_forged_messages(),
        }
    }

    /// A client with write access sends invalid tasks and results.
    fn send_forged_messages(&mut self) {
        let names = QueueNames::new("q", VERSION);
        let now = self.clock(SERVER);
        let id = self.new_number();
        let task = short_checksum(&id.to_le_bytes());
        for subject in
            [format!("q.tasks.{VERSION}.x y.z"), names.task(&short_checksum(b"x"), &task)]
        {
            let message = TaskMessage {
                message_id: format!("forged {id} {subject}"),
                subject,
                kind: "\u{1b}[2J".to_owned(),
                version: VERSION.to_owned(),
                content: b"forged".to_vec(),
            };
            let _ = self.server.publish(message, now);
        }
        // A result of a task that is queued now.
        let Some(subject) = self.server.list().into_iter().next() else { return };
        let Some(name) = names.parse_task(&subject) else { return };
        let worker = *self.rng.pick(&["\u{1b}]0;x\u{7}", "forger", ""]).unwrap_or(&"");
        let message = ResultMessage {
            subject: names.result(&name.run, &name.task),
            message_id: format!("forged {id}"),
            worker: worker.to_owned(),
            version: VERSION.to_owned(),
            failed: false,
            checksum: checksum(b"0"),
            seconds: f64::NAN,
            content: b"forged".to_vec(),
        };
        let _ = self.server.store(message, now);
    }
}
