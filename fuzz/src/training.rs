//! Checkpoints of learners, and the jobs and answers of populations that are trained by workers.

use super::tasks::FakeQueue;
use outflank_games::othello::Othello;
use outflank_learners::ann::{AnnConfig, AnnLearner, ResultTarget};
use outflank_learners::coevolution::{
    Coevolution, CoevolutionConfig, Fitness, GenerationJobHandler,
};
use outflank_learners::methods::{self, Method, MethodOptions, TrainingData};
use outflank_learners::self_play::{SelfPlay, SelfPlayConfig};
use outflank_learners::training::Learner;
use outflank_models::files::{Origin, write_safetensors};
use outflank_models::patterns::{AfterstateFeatures, Stages};
use outflank_models::tuple_shapes::{NeighborChoice, Snake};
use outflank_models::{NTupleNetwork, Tuples};
use outflank_records::{Decision, DecisionFilter, Record, decisions};
use outflank_runs::files::checksum;
use outflank_runs::{BlobStore, JobHandler, sections};
use serde_json::Value;
use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

/// Restores a learner from the sections of a checkpoint.
type Restore = Box<dyn FnMut(&[Vec<u8>])>;

/// Games and their choices.
type TrainingGames = (Vec<Record<Othello>>, Vec<Decision<Othello>>);

/// Two games and their choices.
static GAMES: LazyLock<TrainingGames> = LazyLock::new(|| {
    let games = outflank_records::embedded::games()[..2].to_vec();
    let choices = decisions(&games, &DecisionFilter::CHOICES).items().to_vec();
    (games, choices)
});

fn supervised(method: Method, options: &MethodOptions) -> Restore {
    let (games, choices) = &*GAMES;
    let data = TrainingData::new(games, choices, Tuples::squares());
    restorable(methods::learner(method, data, options, 1).expect("valid options"))
}

/// What a learner accepts it can save, and continue from: a step may fail, but not panic.
fn restorable<L: Learner + 'static>(mut learner: L) -> Restore {
    let initial = learner.state().expect("a new learner has a state");
    Box::new(move |sections| {
        if learner.restore(sections).is_ok() {
            if let Ok(state) = learner.state() {
                learner.restore(&state).expect("a saved state is valid");
            }
            let _ = learner.step();
            let _ = learner.metrics();
        }
        learner.restore(&initial).expect("the initial state is valid");
    })
}

/// A population of two small networks that plays one game of each kind.
fn population(trains: bool) -> Coevolution {
    let config = CoevolutionConfig {
        shape: "snakes2x2".parse().expect("a shape"),
        snake: Snake::Clean,
        init_range: 0.1,
        population: 2,
        learning_rate: 0.01,
        epsilon: 0.1,
        self_play_games: u64::from(trains),
        population_opponents: 0,
        population_games: 1,
        archive_opponents: 0,
        archive_games: 1,
        archive_newest: false,
        archive_size: 2,
        fitness: Fitness::RoundRobin,
        games_per_pair: 1,
        hall_of_fame_games: 0,
        heuristic_games: 0,
        heuristic_random: 0.0,
        tournament_size: 2,
        crossover: 0.5,
        weight_mutation: 0.1,
        weight_deviation: 0.1,
        topology_mutation: 0.1,
        topology: NeighborChoice::Uniform,
    };
    Coevolution::new(config, 1, 1).expect("a valid configuration")
}

fn learners() -> Vec<Restore> {
    let options = MethodOptions { epochs: 2, discs_per_stage: 30, ..MethodOptions::default() };
    let dual = MethodOptions { dual: true, ..options };
    let online = MethodOptions { online: true, ..options };
    let mut all: Vec<Restore> = [
        (Method::IPref, options),
        (Method::IPref, dual),
        (Method::IPref, online),
        (Method::Lstd, options),
        (Method::Mm, options),
    ]
    .map(|(method, options)| supervised(method, &options))
    .into();
    all.push(restorable(population(true)));
    let config = SelfPlayConfig {
        batches: 2,
        games_per_batch: 1,
        epsilon: 0.1,
        max_random_plies: 2,
        opponent_share: 0.0,
        lambda: 0.5,
        learning_rate: 0.1,
        seed: 1,
    };
    let features = AfterstateFeatures::new(Tuples::squares(), Vec::new()).expect("few placements");
    all.push(restorable(SelfPlay::new(features, Stages::ONE, config)));
    all.push(restorable(AnnLearner::new(AnnConfig {
        architecture: "FC 64-1-1".parse().expect("an architecture"),
        learning_rate: 0.01,
        lr_decay_games: None,
        lambda: 0.5,
        epsilon: 0.1,
        self_play: true,
        per_move: false,
        result_target: ResultTarget::Sigmoid,
        seed: 1,
    })));
    all
}

thread_local! {
    static LEARNERS: RefCell<Vec<Restore>> = RefCell::new(learners());
    static WORKER: Worker = Worker::new();
}

/// The first byte selects a learner, the others are the state in its checkpoint.
pub fn training_checkpoint(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    LEARNERS.with_borrow_mut(|all| {
        let index = usize::from(*first) % all.len();
        all[index](&split(rest));
    });
}

/// Splits bytes into sections: each follows its length in two bytes. All bytes are valid, unlike those
/// of [`sections`], so that more mutations reach a learner.
fn split(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut sections = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (section, rest) = rest.split_at(length);
        sections.push(section.to_vec());
        bytes = rest;
    }
    sections
}

/// A worker that knows one generation of two networks, and populations whose workers give arbitrary
/// answers.
struct Worker {
    queue: Arc<FakeQueue>,
    handler: GenerationJobHandler,
    generation: String,
    networks: Vec<Vec<u8>>,
    populations: RefCell<[Coevolution; 2]>,
}

impl Worker {
    fn new() -> Worker {
        let queue: Arc<FakeQueue> = Arc::default();
        let write = |network: &NTupleNetwork| {
            write_safetensors(&network.clone().into(), &Origin::default()).expect("a model")
        };
        let networks: Vec<Vec<u8>> = population(true).population().iter().map(write).collect();
        let header = r#"{"seed": 1, "generation": 0, "rates": {"alpha": 0.01, "epsilon": 0.1},
            "epsilon": 0, "numbers": [0, 1]}"#;
        let generation = pack(header.as_bytes(), &networks);
        let generation = queue.put(&generation).expect("memory");
        let populations = [population(true), population(false)];
        let populations = populations.map(|population| population.with_remote(queue.clone()));
        let handler = GenerationJobHandler::default();
        Worker { queue, handler, generation, networks, populations: RefCell::new(populations) }
    }

    /// Executes a task of a generation, unless it has many games: such a task is valid, and long.
    fn execute(&self, generation: &str, task: &[u8]) {
        let Ok(mut task) = serde_json::from_slice::<Value>(task) else { return };
        if games(&task) < 4 && task.is_object() {
            task["setting"] = generation.into();
            let _ = self.handler.execute(task.to_string().as_bytes(), &*self.queue);
        }
    }

    /// Executes a task of all kinds of a generation with this content.
    fn load(&self, generation: &[u8]) {
        let sha256 = self.queue.put(generation).expect("memory");
        for task in [
            r#"{"practices": [{"individual": 0, "first": 0, "opponents": [[1, 1]]}], "meetings": []}"#,
            r#"{"practices": [], "meetings": [[{"black": 0, "white": 1, "round": 0}]]}"#,
        ] {
            self.execute(&sha256, task.as_bytes());
        }
        self.queue.remove(&sha256);
    }
}

fn pack(header: &[u8], networks: &[Vec<u8>]) -> Vec<u8> {
    let mut items = vec![header.to_vec()];
    items.extend_from_slice(networks);
    sections::pack(&items)
}

/// The number of games in a task.
fn games(task: &Value) -> u64 {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let opponents = list(&task["practices"]).into_iter().flat_map(|job| list(&job["opponents"]));
    let training = opponents.filter_map(|opponent| opponent[1].as_u64());
    let pairings = list(&task["meetings"]).iter().map(|job| list(job).len() as u64).sum();
    training.fold(pairings, u64::saturating_add)
}

/// The first byte selects what the others are: a task, the header of a generation, a whole
/// generation, or the answer to a task.
pub fn population_jobs(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    WORKER.with(|worker| match first % 5 {
        0 => worker.execute(&worker.generation, rest),
        1 => worker.load(&pack(rest, &worker.networks)),
        2 => worker.load(&[rest, checksum(rest).as_bytes()].concat()),
        kind => {
            worker.queue.set_result(rest);
            let failed = worker.populations.borrow_mut()[usize::from(kind) - 3].step();
            // The queue has no further answers.
            assert!(failed.is_err());
        }
    });
}
