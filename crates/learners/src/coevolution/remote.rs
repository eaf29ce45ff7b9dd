//! Plays the games of a generation on remote workers.
//!
//! The networks of a generation are one blob, which workers fetch by its checksum; a task only lists
//! the individuals to train or the pairings to play. Trained networks and results of games are
//! bit-identical to those of a local run.

use super::fitness::{GenerationContext, Pairing, PreparedNetworks};
use super::read_network;
use crate::tdl::{self, TdlConfig};
use crate::training::StepError;
use outflank_games::Side;
use outflank_models::files::{Origin, write_safetensors};
use outflank_models::{NTupleNetwork, TrainableNTuple};
use outflank_runs::{
    BlobStore, JobBatch, JobHandler, Verifier, WorkQueue, WorkQueueError, run_in_order, sections,
    stop_requested,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The kind of the jobs.
const KIND: &str = "generations";

/// Number of blobs that a worker caches, enough for two concurrent runs.
const CACHED_CONTEXTS: usize = 4;

/// Maximum size of the networks of a generation.
const MAX_BLOB_BYTES: u64 = 1 << 30;

/// The largest possible result of a game.
const MAX_RESULT: i32 = 64;

/// A queue of remote workers that play the games of a population.
#[derive(Clone, Debug)]
pub(super) struct RemoteGames {
    pub(super) queue: Arc<dyn WorkQueue>,
}

/// The training games of one individual in a generation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TrainingJob {
    pub(super) individual: usize,
    /// Number of its first game, counted from the start of the run.
    pub(super) first: u64,
    /// Opponents by index with the number of games; `None` is self-play.
    pub(super) opponents: Vec<(Option<usize>, u64)>,
}

impl TrainingJob {
    /// Plays the games and returns the trained network.
    pub(super) fn play<'a>(
        &self,
        player: impl Fn(usize) -> &'a NTupleNetwork,
        tdl_config: TdlConfig,
        seed: u64,
    ) -> NTupleNetwork {
        let mut network = player(self.individual).clone();
        let mut trainable = TrainableNTuple::new(&network);
        let mut game = self.first;
        for &(opponent, count) in &self.opponents {
            let mut opponent = opponent.map(|number| TrainableNTuple::new(player(number)));
            for round in 0..count {
                let mut rng = tdl::stream(seed, self.individual, game);
                game += 1;
                match &mut opponent {
                    None => tdl::self_play(&mut trainable, tdl_config, &mut rng),
                    Some(opponent) => {
                        let side = if round % 2 == 0 { Side::Black } else { Side::White };
                        tdl::play_against(&mut trainable, opponent, side, tdl_config, &mut rng)
                    }
                };
            }
        }
        trainable.store(&mut network);
        network
    }

    /// Returns the indices of all participants.
    fn participants(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.individual)
            .chain(self.opponents.iter().filter_map(|(other, _)| *other))
    }
}

/// The header of a blob, followed by the networks in the order of `numbers`.
#[derive(Debug, Serialize, Deserialize)]
struct BlobHeader {
    seed: u64,
    generation: u64,
    /// TDL configuration of training jobs; `None` for evaluation.
    #[serde(rename = "rates")]
    tdl_config: Option<TdlConfig>,
    /// Probability of a random move in evaluation.
    epsilon: f64,
    /// Indices of the networks.
    numbers: Vec<usize>,
}

/// The payload of a task: a range of jobs of one generation.
#[derive(Debug, Serialize, Deserialize)]
struct GenerationTask {
    /// Checksum of the blob.
    #[serde(rename = "setting")]
    blob: String,
    #[serde(rename = "practices")]
    training: Vec<TrainingJob>,
    #[serde(rename = "meetings")]
    pairings: Vec<Vec<Pairing>>,
}

/// Trains all individuals remotely.
pub(super) fn train(
    remote: &RemoteGames,
    players: &[&NTupleNetwork],
    jobs: &[TrainingJob],
    tdl_config: TdlConfig,
    context: GenerationContext,
) -> Result<Vec<NTupleNetwork>, StepError> {
    let numbers = jobs.iter().flat_map(TrainingJob::participants).collect();
    let header = header(context, Some(tdl_config), 0.0, &numbers);
    let encode = |blob: &str, range: Range<usize>| GenerationTask {
        blob: blob.to_owned(),
        training: jobs[range].to_vec(),
        pairings: Vec::new(),
    };
    let read = |range: Range<usize>, answer: &[u8]| {
        let networks: Result<Vec<NTupleNetwork>, String> =
            sections::unpack(answer)?.iter().map(|bytes| read_network(bytes)).collect();
        let networks = networks?;
        let originals = jobs[range].iter().map(|job| players[job.individual]);
        match networks.iter().zip(originals).all(|(new, old)| is_trained_from(new, old)) {
            true => Ok(networks),
            false => Err("the networks do not belong to this population".to_owned()),
        }
    };
    run_jobs(remote, &header, players, jobs.len(), encode, read)
}

/// Returns whether `new` can result from training `old`.
fn is_trained_from(new: &NTupleNetwork, old: &NTupleNetwork) -> bool {
    new.tuples() == old.tuples()
        && (new.view(), new.is_binary()) == (old.view(), old.is_binary())
        && new.weights().iter().all(|weight| weight.is_finite())
}

/// Plays games remotely and returns their results for Black, job by job.
pub(super) fn play(
    remote: &RemoteGames,
    players: &[&NTupleNetwork],
    jobs: &[&[Pairing]],
    epsilon: f64,
    context: GenerationContext,
) -> Result<Vec<Vec<i32>>, StepError> {
    let all = jobs.iter().flat_map(|job_pairings| job_pairings.iter());
    let numbers = all.flat_map(|pairing| [pairing.black, pairing.white]).collect();
    let header = header(context, None, epsilon, &numbers);
    let encode = |blob: &str, range: Range<usize>| GenerationTask {
        blob: blob.to_owned(),
        training: Vec::new(),
        pairings: jobs[range].iter().map(|job_pairings| job_pairings.to_vec()).collect(),
    };
    let read = |range: Range<usize>, answer: &[u8]| {
        let results: Vec<Vec<i32>> =
            serde_json::from_slice(answer).map_err(|error| error.to_string())?;
        let fits = |(results, job_pairings): (&Vec<i32>, &&[Pairing])| {
            let possible = |result: &i32| (-MAX_RESULT..=MAX_RESULT).contains(result);
            results.len() == job_pairings.len() && results.iter().all(possible)
        };
        match results.iter().zip(&jobs[range]).all(fits) {
            true => Ok(results),
            false => Err("the games are not those of the job".to_owned()),
        }
    };
    run_jobs(remote, &header, players, jobs.len(), encode, read)
}

fn header(
    context: GenerationContext,
    tdl_config: Option<TdlConfig>,
    epsilon: f64,
    numbers: &BTreeSet<usize>,
) -> BlobHeader {
    let GenerationContext { seed, generation, .. } = context;
    BlobHeader { seed, generation, tdl_config, epsilon, numbers: numbers.iter().copied().collect() }
}

/// Runs all jobs and returns their results in order. A sample is verified by the handler of a worker
/// in this process.
fn run_jobs<T: Clone + PartialEq + Send>(
    remote: &RemoteGames,
    header: &BlobHeader,
    players: &[&NTupleNetwork],
    job_count: usize,
    encode: impl Fn(&str, Range<usize>) -> GenerationTask + Sync,
    read: impl Fn(Range<usize>, &[u8]) -> Result<Vec<T>, String> + Sync,
) -> Result<Vec<T>, StepError> {
    let failed = |error: WorkQueueError| StepError::Failed(error.to_string());
    let mut items = vec![serde_json::to_vec(header).map_err(|error| error.to_string())?];
    for &number in &header.numbers {
        items.push(write_safetensors(&players[number].clone().into(), &Origin::default())?);
    }
    let blob = remote.queue.put(&sections::pack(&items)).map_err(failed)?;
    let batch = JobBatch { kind: KIND, run: &blob, jobs: job_count };
    let encode = |range| serde_json::to_vec(&encode(&blob, range)).unwrap_or_default();
    let handler = GenerationJobHandler::default();
    let check = |job: usize, result: &T, _: &[usize]| {
        let own = handler.execute(&encode(job..job + 1), &*remote.queue)?;
        match read(job..job + 1, &own)?.first() == Some(result) {
            true => Ok(()),
            false => {
                Err(format!("its result of job {job} of a generation differs from the one here"))
            }
        }
    };
    let verifier = Verifier { unit_count: &|_| 1, check: &check, check_first: true };
    let (mut results, mut end);
    loop {
        results = Vec::with_capacity(job_count);
        end = run_in_order(&*remote.queue, batch, &encode, &read, verifier, |_, result, _| {
            results.push(result);
            true
        });
        // After wrong results, the whole generation is executed again.
        if end.as_ref().map_or(true, Vec::is_empty) || stop_requested() {
            break;
        }
        results.clear();
    }
    remote.queue.delete(&blob);
    end.map_err(failed)?;
    match results.len() == job_count {
        true => Ok(results),
        // The queue returns early only if a stop was requested.
        false => Err(StepError::Stopped),
    }
}

/// A decoded blob: the networks by index.
struct JobContext {
    header: BlobHeader,
    players: BTreeMap<usize, NTupleNetwork>,
}

/// The worker side: trains and evaluates populations for a remote run.
#[derive(Default)]
pub struct GenerationJobHandler {
    /// The most recent blobs by checksum, the latest last.
    contexts: Mutex<Vec<(String, Arc<JobContext>)>>,
}

impl GenerationJobHandler {
    /// Returns the blob with this checksum, from the cache if possible.
    fn context(&self, blob: &str, blobs: &dyn BlobStore) -> Result<Arc<JobContext>, String> {
        let lock = || self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, context)) = lock().iter().find(|(checksum, _)| checksum == blob) {
            return Ok(context.clone());
        }
        let bytes = blobs.get(blob, MAX_BLOB_BYTES).map_err(|error| error.to_string())?;
        let items = sections::unpack(&bytes)?;
        let (header, networks) = items.split_first().ok_or("not a population")?;
        let header: BlobHeader =
            serde_json::from_slice(header).map_err(|error| format!("not a population: {error}"))?;
        let networks: Result<Vec<NTupleNetwork>, String> =
            networks.iter().map(|bytes| read_network(bytes)).collect();
        let players: BTreeMap<usize, NTupleNetwork> =
            header.numbers.iter().copied().zip(networks?).collect();
        let context = Arc::new(JobContext { header, players });
        let mut contexts = lock();
        if contexts.len() >= CACHED_CONTEXTS {
            contexts.remove(0);
        }
        contexts.push((blob.to_owned(), context.clone()));
        Ok(context)
    }
}

impl JobHandler for GenerationJobHandler {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn execute(&self, task: &[u8], blobs: &dyn BlobStore) -> Result<Vec<u8>, String> {
        let message: GenerationTask =
            serde_json::from_slice(task).map_err(|error| format!("invalid task: {error}"))?;
        let context = self.context(&message.blob, blobs)?;
        let JobContext { header, players } = &*context;
        let missing = |number: &usize| !players.contains_key(number);
        let pairings = message.pairings.iter().flatten();
        let mut numbers = (message.training.iter().flat_map(TrainingJob::participants))
            .chain(pairings.flat_map(|pairing| [pairing.black, pairing.white]));
        if let Some(number) = numbers.find(missing) {
            return Err(format!("invalid task: there is no player {number}"));
        }
        if let Some(tdl_config) = header.tdl_config {
            let trained = message.training.iter().map(|training| {
                let network = training.play(|number| &players[&number], tdl_config, header.seed);
                write_safetensors(&network.into(), &Origin::default())
            });
            return Ok(sections::pack(&trained.collect::<Result<Vec<_>, _>>()?));
        }
        let generation =
            GenerationContext { seed: header.seed, generation: header.generation, threads: 1 };
        let mut networks =
            PreparedNetworks::new(players.iter().map(|(number, network)| (*number, network)));
        let results: Vec<Vec<i32>> = message
            .pairings
            .iter()
            .map(|pairings| networks.play(pairings, header.epsilon, generation))
            .collect();
        serde_json::to_vec(&results).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Coevolution, CoevolutionConfig, Fitness};
    use super::*;
    use crate::training::Learner;
    use outflank_models::tuple_shapes::{NeighborChoice, Snake};
    use outflank_runs::files::checksum;
    use outflank_runs::{AcceptFn, Ack, Verification};

    /// A queue in this process, which returns results in reverse order, each after several invalid
    /// ones.
    #[derive(Debug)]
    struct LocalQueue {
        verification: Verification,
        content: Mutex<BTreeMap<String, Vec<u8>>>,
        most: Mutex<usize>,
    }

    impl LocalQueue {
        fn new() -> LocalQueue {
            let verification = Verification::new(1.0, 2);
            LocalQueue { verification, content: Mutex::default(), most: Mutex::default() }
        }
    }

    impl BlobStore for LocalQueue {
        fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
            let mut content = self.content.lock().unwrap();
            content.insert(checksum(bytes), bytes.to_vec());
            let mut most = self.most.lock().unwrap();
            *most = content.len().max(*most);
            Ok(checksum(bytes))
        }

        fn get(&self, sha256: &str, _: u64) -> Result<Vec<u8>, WorkQueueError> {
            let found = self.content.lock().unwrap().get(sha256).cloned();
            found.ok_or_else(|| WorkQueueError(format!("there is no {sha256}")))
        }
    }

    impl WorkQueue for LocalQueue {
        fn run(
            &self,
            batch: JobBatch<'_>,
            encode: &dyn Fn(Range<usize>) -> Vec<u8>,
            accept: &mut AcceptFn<'_>,
        ) -> Result<(), WorkQueueError> {
            assert_eq!(batch.kind, KIND);
            let handler = GenerationJobHandler::default();
            for from in (0..batch.jobs).step_by(3).rev() {
                let range = from..(from + 3).min(batch.jobs);
                for nonsense in [&b"?"[..], b"[[65]]", b"[]"] {
                    assert!(matches!(accept(range.clone(), "w", nonsense), Ack::Rejected(_)));
                }
                let answer =
                    handler.execute(&encode(range.clone()), self).map_err(WorkQueueError)?;
                assert_eq!(accept(range, "w", &answer), Ack::Accepted);
            }
            assert!(handler.execute(b"nonsense", self).is_err());
            let unknown = TrainingJob { individual: 999, first: 0, opponents: Vec::new() };
            let message = GenerationTask {
                blob: batch.run.to_owned(),
                training: vec![unknown],
                pairings: Vec::new(),
            };
            let error = handler.execute(&serde_json::to_vec(&message).unwrap(), self).unwrap_err();
            assert!(error.contains("no player 999"), "{error}");
            Ok(())
        }

        fn verification(&self) -> &Verification {
            &self.verification
        }

        fn quarantine(&self, worker: &str, reason: &str) {
            panic!("{worker} is honest: {reason}");
        }

        fn delete(&self, sha256: &str) {
            assert!(self.content.lock().unwrap().remove(sha256).is_some());
        }

        fn status(&self) -> String {
            String::new()
        }
    }

    /// All kinds of training and fitness have the same state as a local run, and no blob is left
    /// behind.
    #[test]
    fn remote_and_local_generations_are_identical() {
        let hall_of_fame = CoevolutionConfig {
            shape: "4x3".parse().unwrap(),
            snake: Snake::Clean,
            init_range: 0.1,
            population: 5,
            learning_rate: 0.01,
            epsilon: 0.1,
            self_play_games: 2,
            population_opponents: 2,
            population_games: 2,
            archive_opponents: 2,
            archive_games: 2,
            archive_newest: false,
            archive_size: 0,
            fitness: Fitness::RoundRobin,
            games_per_pair: 2,
            hall_of_fame_games: 3,
            heuristic_games: 0,
            heuristic_random: 0.0,
            tournament_size: 2,
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
            hall_of_fame_games: 0,
            ..hall_of_fame.clone()
        };
        let untrained = CoevolutionConfig {
            self_play_games: 0,
            population_opponents: 0,
            archive_opponents: 0,
            ..hall_of_fame.clone()
        };
        for config in [hall_of_fame, heuristic, untrained] {
            let queue = Arc::new(LocalQueue::new());
            let mut local = Coevolution::new(config.clone(), 7, 2).unwrap();
            let mut remote = Coevolution::new(config, 7, 1).unwrap().with_remote(queue.clone());
            for _ in 0..3 {
                local.step().unwrap();
                remote.step().unwrap();
                assert!(local.state().unwrap() == remote.state().unwrap());
            }
            assert!(queue.content.lock().unwrap().is_empty());
            assert_eq!(*queue.most.lock().unwrap(), 1);
        }
    }
}
