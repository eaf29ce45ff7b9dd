//! The games of a generation when others play them.
//!
//! The networks that play are one document, which all can fetch by its checksum; a message says no
//! more than which individuals are to train, or which of them meet. What comes back is what would
//! have been made here: networks to the last bit, and the margins of games.

use super::fitness::{Lives, Meeting, GenerationContext};
use super::read_network;
use crate::tdl::{self, TdlConfig};
use crate::training::StepError;
use outflank_games::Side;
use outflank_models::files::{Origin, write_safetensors};
use outflank_models::{TrainableNTuple, NTupleNetwork};
use outflank_runs::{WorkQueue, WorkQueueError, BlobStore, JobBatch, JobHandler, run_in_order, shards};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What this work is called in messages.
const KIND: &str = "generations";

/// A worker remembers so many documents: those of a generation for two runs at a time.
const REMEMBERED: usize = 4;

/// No game of Othello ends with more than that.
const WIDEST: i32 = 64;

/// Others who play the games of a population.
#[derive(Clone, Debug)]
pub(super) struct Elsewhere {
    pub(super) crew: Arc<dyn WorkQueue>,
}

/// The training games of one individual in a generation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Practice {
    pub(super) individual: usize,
    /// The number of its first game, counted from the beginning of the run.
    pub(super) first: u64,
    /// With whom, by numbers, and how often; `None` is itself.
    pub(super) opponents: Vec<(Option<usize>, u64)>,
}

impl Practice {
    /// Plays them; gives what the individual has become.
    pub(super) fn play<'a>(
        &self,
        player: impl Fn(usize) -> &'a NTupleNetwork,
        rates: TdlConfig,
        seed: u64,
    ) -> NTupleNetwork {
        let mut network = player(self.individual).clone();
        let mut live = TrainableNTuple::new(&network);
        let mut game = self.first;
        for &(opponent, count) in &self.opponents {
            let mut opponent = opponent.map(|number| TrainableNTuple::new(player(number)));
            for round in 0..count {
                let mut rng = tdl::stream(seed, self.individual, game);
                game += 1;
                match &mut opponent {
                    None => tdl::self_play(&mut live, rates, &mut rng),
                    Some(opponent) => {
                        let side = if round % 2 == 0 { Side::Black } else { Side::White };
                        tdl::play_against(&mut live, opponent, side, rates, &mut rng)
                    }
                };
            }
        }
        live.store(&mut network);
        network
    }

    /// Everyone who takes part.
    fn numbers(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.individual)
            .chain(self.opponents.iter().filter_map(|(other, _)| *other))
    }
}

/// What a document says besides the networks, which follow in the order of their numbers.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    seed: u64,
    generation: u64,
    /// How they learn; nothing when they are judged.
    rates: Option<TdlConfig>,
    /// The share of random moves when they are judged.
    epsilon: f64,
    numbers: Vec<usize>,
}

/// Some of the work on one document.
#[derive(Debug, Serialize, Deserialize)]
struct SentPieces {
    setting: String,
    practices: Vec<Practice>,
    meetings: Vec<Vec<Meeting>>,
}

/// Has everyone trained by others.
pub(super) fn train(
    others: &Elsewhere,
    players: &[&NTupleNetwork],
    practices: &[Practice],
    rates: TdlConfig,
    occasion: GenerationContext,
) -> Result<Vec<NTupleNetwork>, StepError> {
    let numbers = practices.iter().flat_map(Practice::numbers).collect();
    let head = head(occasion, Some(rates), 0.0, &numbers);
    let describe = |setting: &str, range: Range<usize>| SentPieces {
        setting: setting.to_owned(),
        practices: practices[range].to_vec(),
        meetings: Vec::new(),
    };
    let read = |range: Range<usize>, answer: &[u8]| {
        let networks: Result<Vec<NTupleNetwork>, String> =
            shards::unpack(answer)?.iter().map(|bytes| read_network(bytes)).collect();
        let networks = networks?;
        let asked = practices[range].iter().map(|practice| players[practice.individual]);
        match networks.iter().zip(asked).all(|(new, old)| is_of(new, old)) {
            true => Ok(networks),
            false => Err("its networks are not of this population".to_owned()),
        }
    };
    order(others, &head, players, practices.len(), describe, read)
}

/// Whether one network can have become the other by training.
fn is_of(new: &NTupleNetwork, old: &NTupleNetwork) -> bool {
    new.tuples() == old.tuples()
        && (new.view(), new.is_binary()) == (old.view(), old.is_binary())
        && new.weights().iter().all(|weight| weight.is_finite())
}

/// Has games played by others; gives their margins for Black, piece by piece.
pub(super) fn play(
    others: &Elsewhere,
    players: &[&NTupleNetwork],
    pieces: &[&[Meeting]],
    epsilon: f64,
    occasion: GenerationContext,
) -> Result<Vec<Vec<i32>>, StepError> {
    let all = pieces.iter().flat_map(|piece| piece.iter());
    let numbers = all.flat_map(|meeting| [meeting.black, meeting.white]).collect();
    let head = head(occasion, None, epsilon, &numbers);
    let describe = |setting: &str, range: Range<usize>| SentPieces {
        setting: setting.to_owned(),
        practices: Vec::new(),
        meetings: pieces[range].iter().map(|piece| piece.to_vec()).collect(),
    };
    let read = |range: Range<usize>, answer: &[u8]| {
        let margins: Vec<Vec<i32>> =
            serde_json::from_slice(answer).map_err(|error| error.to_string())?;
        let fits = |(margins, piece): (&Vec<i32>, &&[Meeting])| {
            let possible = |margin: &i32| (-WIDEST..=WIDEST).contains(margin);
            margins.len() == piece.len() && margins.iter().all(possible)
        };
        match margins.iter().zip(&pieces[range]).all(fits) {
            true => Ok(margins),
            false => Err("its games are not those that were asked for".to_owned()),
        }
    };
    order(others, &head, players, pieces.len(), describe, read)
}

fn head(occasion: GenerationContext, rates: Option<TdlConfig>, epsilon: f64, numbers: &BTreeSet<usize>) -> Head {
    let GenerationContext { seed, generation, .. } = occasion;
    Head { seed, generation, rates, epsilon, numbers: numbers.iter().copied().collect() }
}

/// Has all pieces done, and gives their results in order.
fn order<T>(
    others: &Elsewhere,
    head: &Head,
    players: &[&NTupleNetwork],
    pieces: usize,
    describe: impl Fn(&str, Range<usize>) -> SentPieces,
    read: impl Fn(Range<usize>, &[u8]) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, StepError> {
    let failed = |error: WorkQueueError| StepError::Failed(error.to_string());
    let mut items = vec![serde_json::to_vec(head).map_err(|error| error.to_string())?];
    for &number in &head.numbers {
        items.push(write_safetensors(&players[number].clone().into(), &Origin::default())?);
    }
    let setting = others.crew.put(&shards::pack(&items)).map_err(failed)?;
    let mut results = Vec::with_capacity(pieces);
    let batch = JobBatch { kind: KIND, run: &setting, jobs: pieces };
    let describe = |range| serde_json::to_vec(&describe(&setting, range)).unwrap_or_default();
    let end = run_in_order(&*others.crew, batch, &describe, read, |_, result| {
        results.push(result);
        true
    });
    others.crew.delete(&setting);
    end.map_err(failed)?;
    match results.len() == pieces {
        true => Ok(results),
        // The crew ends early only when the user asks to stop.
        false => Err(StepError::Stopped),
    }
}

/// Networks that play, by their numbers, and how.
struct Table {
    head: Head,
    players: BTreeMap<usize, NTupleNetwork>,
}

/// Plays the games of populations for others.
#[derive(Default)]
pub struct GenerationJobHandler {
    /// What it played with last, the latest at the end.
    tables: Mutex<Vec<(String, Arc<Table>)>>,
}

impl GenerationJobHandler {
    /// The document with this checksum.
    fn table(&self, setting: &str, library: &dyn BlobStore) -> Result<Arc<Table>, String> {
        let lock = || self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = lock().iter().find(|(known, _)| known == setting) {
            return Ok(table.clone());
        }
        let document = library.get(setting).map_err(|error| error.to_string())?;
        let items = shards::unpack(&document)?;
        let (head, networks) = items.split_first().ok_or("this is no population")?;
        let head: Head = serde_json::from_slice(head)
            .map_err(|error| format!("this is no population: {error}"))?;
        let networks: Result<Vec<NTupleNetwork>, String> =
            networks.iter().map(|bytes| read_network(bytes)).collect();
        let players: BTreeMap<usize, NTupleNetwork> =
            head.numbers.iter().copied().zip(networks?).collect();
        let table = Arc::new(Table { head, players });
        let mut tables = lock();
        if tables.len() >= REMEMBERED {
            tables.remove(0);
        }
        tables.push((setting.to_owned(), table.clone()));
        Ok(table)
    }
}

impl JobHandler for GenerationJobHandler {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn handle(&self, job: &[u8], library: &dyn BlobStore) -> Result<Vec<u8>, String> {
        let sent: SentPieces =
            serde_json::from_slice(job).map_err(|error| format!("this is no job: {error}"))?;
        let table = self.table(&sent.setting, library)?;
        let Table { head, players } = &*table;
        let missing = |number: &usize| !players.contains_key(number);
        let meetings = sent.meetings.iter().flatten();
        let mut numbers = (sent.practices.iter().flat_map(Practice::numbers))
            .chain(meetings.flat_map(|meeting| [meeting.black, meeting.white]));
        if let Some(number) = numbers.find(missing) {
            return Err(format!("this is no job: there is no player {number}"));
        }
        if let Some(rates) = head.rates {
            let trained = sent.practices.iter().map(|practice| {
                let network = practice.play(|number| &players[&number], rates, head.seed);
                write_safetensors(&network.into(), &Origin::default())
            });
            return Ok(shards::pack(&trained.collect::<Result<Vec<_>, _>>()?));
        }
        let occasion = GenerationContext { seed: head.seed, generation: head.generation, threads: 1 };
        let mut lives = Lives::new(players.iter().map(|(number, network)| (*number, network)));
        let margins: Vec<Vec<i32>> =
            sent.meetings.iter().map(|piece| lives.play(piece, head.epsilon, occasion)).collect();
        serde_json::to_vec(&margins).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Coevolution, Fitness, CoevolutionConfig};
    use super::*;
    use crate::training::Learner;
    use outflank_models::tuple_shapes::{NeighborChoice, Snake};
    use outflank_runs::Ack;
    use outflank_runs::files::checksum;

    /// A crew in this process, which answers backwards and at first with nonsense.
    #[derive(Debug, Default)]
    struct Here {
        content: Mutex<BTreeMap<String, Vec<u8>>>,
        most: Mutex<usize>,
    }

    impl BlobStore for Here {
        fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
            let mut content = self.content.lock().unwrap();
            content.insert(checksum(bytes), bytes.to_vec());
            let mut most = self.most.lock().unwrap();
            *most = content.len().max(*most);
            Ok(checksum(bytes))
        }

        fn get(&self, sha256: &str) -> Result<Vec<u8>, WorkQueueError> {
            let found = self.content.lock().unwrap().get(sha256).cloned();
            found.ok_or_else(|| WorkQueueError(format!("there is no {sha256}")))
        }
    }

    impl WorkQueue for Here {
        fn work(
            &self,
            batch: JobBatch<'_>,
            describe: &dyn Fn(Range<usize>) -> Vec<u8>,
            take: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
        ) -> Result<(), WorkQueueError> {
            assert_eq!(batch.kind, KIND);
            let trade = GenerationJobHandler::default();
            for from in (0..batch.jobs).step_by(3).rev() {
                let range = from..(from + 3).min(batch.jobs);
                for nonsense in [&b"?"[..], b"[[65]]", b"[]"] {
                    assert!(matches!(take(range.clone(), nonsense), Ack::Rejected(_)));
                }
                let answer = trade.handle(&describe(range.clone()), self).map_err(WorkQueueError)?;
                assert_eq!(take(range, &answer), Ack::Accepted);
            }
            assert!(trade.handle(b"nonsense", self).is_err());
            let odd = Practice { individual: 999, first: 0, opponents: Vec::new() };
            let sent = SentPieces {
                setting: batch.run.to_owned(),
                practices: vec![odd],
                meetings: Vec::new(),
            };
            let error = trade.handle(&serde_json::to_vec(&sent).unwrap(), self).unwrap_err();
            assert!(error.contains("no player 999"), "{error}");
            Ok(())
        }

        fn delete(&self, sha256: &str) {
            assert!(self.content.lock().unwrap().remove(sha256).is_some());
        }

        fn words(&self) -> String {
            String::new()
        }
    }

    /// Every way to train and to judge gives the same state as without others, and nothing is left
    /// behind.
    #[test]
    fn others_play_the_same_generations() {
        let fame = CoevolutionConfig {
            shape: "4x3".parse().unwrap(),
            snake: Snake::Clean,
            spread: 0.1,
            population: 5,
            alpha: 0.01,
            epsilon: 0.1,
            self_games: 2,
            population_opponents: 2,
            population_games: 2,
            archive_opponents: 2,
            archive_games: 2,
            archive_newest: false,
            archive: 0,
            fitness: Fitness::RoundRobin,
            meetings: 2,
            hall_of_fame: 3,
            heuristic_games: 0,
            heuristic_random: 0.0,
            tournament: 2,
            crossover: 0.5,
            weight_mutation: 0.1,
            weight_deviation: 0.1,
            topology_mutation: 0.1,
            topology: NeighborChoice::Uniform,
        };
        let heuristic = CoevolutionConfig {
            fitness: Fitness::Heuristic,
            heuristic_games: 4,
            heuristic_random: 0.1,
            hall_of_fame: 0,
            ..fame.clone()
        };
        let untrained = CoevolutionConfig {
            self_games: 0,
            population_opponents: 0,
            archive_opponents: 0,
            ..fame.clone()
        };
        for settings in [fame, heuristic, untrained] {
            let crew = Arc::new(Here::default());
            let mut here = Coevolution::new(settings.clone(), 7, 2).unwrap();
            let mut there = Coevolution::new(settings, 7, 1).unwrap().elsewhere(crew.clone());
            for _ in 0..3 {
                here.step().unwrap();
                there.step().unwrap();
                assert!(here.state().unwrap() == there.state().unwrap());
            }
            assert!(crew.content.lock().unwrap().is_empty());
            assert_eq!(*crew.most.lock().unwrap(), 1);
        }
    }
}
