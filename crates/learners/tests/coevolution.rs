//! What must hold for every method that learns by playing.

use outflank_learners::coevolution::variation::{
    crossover, fresh, mutate_topology, mutate_weights, tournament,
};
use outflank_learners::coevolution::{Coevolution, Fitness, CoevolutionConfig, CoevolutionConfigError, TupleShape};
use outflank_learners::tdl::{self, TdlConfig};
use outflank_learners::training::{OpponentEvaluator, Learner, TrainingPlan, train};
use outflank_models::files::Origin;
use outflank_models::tuple_shapes::{NeighborChoice, Snake};
use outflank_models::{NTupleNetwork, Tuple};
use outflank_players::registry::factories;
use outflank_runs::rng::stream;
use std::collections::BTreeMap;
use std::path::Path;

/// A small method that does everything.
fn everything() -> CoevolutionConfig {
    CoevolutionConfig {
        shape: TupleShape::Snakes { tuples: 4, length: 3 },
        snake: Snake::Clean,
        spread: 0.0,
        population: 5,
        alpha: 0.01,
        epsilon: 0.1,
        self_games: 4,
        population_opponents: 2,
        population_games: 2,
        archive_opponents: 2,
        archive_games: 2,
        archive_newest: false,
        archive: 3,
        fitness: Fitness::RoundRobin,
        meetings: 2,
        hall_of_fame: 3,
        heuristic_games: 4,
        heuristic_random: 0.1,
        tournament: 3,
        crossover: 0.8,
        weight_mutation: 0.05,
        weight_deviation: 0.25,
        topology_mutation: 0.1,
        topology: NeighborChoice::Uniform,
    }
}

/// Training alone.
fn alone(population: usize) -> CoevolutionConfig {
    CoevolutionConfig {
        population,
        population_opponents: 0,
        archive_opponents: 0,
        archive: 0,
        fitness: Fitness::None,
        hall_of_fame: 0,
        tournament: 0,
        crossover: 0.0,
        weight_mutation: 0.0,
        topology_mutation: 0.0,
        ..everything()
    }
}

fn methods() -> Vec<(&'static str, CoevolutionConfig)> {
    vec![
        ("everything", everything()),
        (
            "newest, crowded",
            CoevolutionConfig {
                archive_newest: true,
                topology: NeighborChoice::Crowded,
                snake: Snake::Wrapping,
                ..everything()
            },
        ),
        (
            "judged by the heuristic",
            CoevolutionConfig { fitness: Fitness::Heuristic, hall_of_fame: 0, ..everything() },
        ),
        ("systematic", CoevolutionConfig { shape: "all2+2x2".parse().unwrap(), ..everything() }),
        ("one alone", alone(1)),
        ("several alone", alone(4)),
        (
            "without training",
            CoevolutionConfig {
                spread: 1.0,
                self_games: 0,
                population_opponents: 0,
                archive_opponents: 0,
                ..everything()
            },
        ),
    ]
}

fn steps(settings: &CoevolutionConfig, threads: usize, steps: usize) -> Coevolution {
    let mut learner = Coevolution::new(settings.clone(), 3, threads).unwrap();
    (0..steps).for_each(|_| learner.step().unwrap());
    learner
}

/// The contract: budgets add up, populations keep their size, the same seed gives the same bytes
/// on any number of threads, and a state goes on as if nothing had happened.
#[test]
fn every_method_keeps_the_contract() {
    for (name, settings) in methods() {
        let mut learner = Coevolution::new(settings.clone(), 3, 1).unwrap();
        let mut spent = 0;
        for _ in 0..3 {
            spent += learner.next_cost();
            learner.step().unwrap();
            assert_eq!(learner.spent(), spent, "{name}");
            assert_eq!(learner.population().len(), settings.population, "{name}");
            let finite = |network: &NTupleNetwork| network.weights().iter().all(|w| w.is_finite());
            assert!(learner.population().iter().all(finite), "{name}");
        }
        let bytes = learner.state().unwrap();
        for threads in [2, 5] {
            assert!(steps(&settings, threads, 3).state().unwrap() == bytes, "{name}, {threads}");
        }
        let mut resumed = Coevolution::new(settings.clone(), 3, 2).unwrap();
        resumed.restore(&steps(&settings, 1, 2).state().unwrap()).unwrap();
        resumed.step().unwrap();
        assert!(resumed.state().unwrap() == bytes, "{name} resumed");
        assert_eq!(resumed.model(), learner.model(), "{name}");
        assert!(Coevolution::new(settings, 4, 1).unwrap().state().unwrap() != bytes);
    }
}

/// A population with one individual and no variation is TDL, to the last bit.
#[test]
fn one_individual_without_variation_is_tdl() {
    for games in [1, 7, 20] {
        let settings = CoevolutionConfig { self_games: games, ..alone(1) };
        let mut learner = Coevolution::new(settings.clone(), 9, 2).unwrap();
        let mut network = learner.population()[0].clone();
        (0..140 / games).for_each(|_| learner.step().unwrap());
        let rates = TdlConfig { learning_rate: settings.alpha, epsilon: settings.epsilon };
        tdl::learn(&mut network, rates, 9, 0, 140);
        assert_eq!(learner.model(), network);
        assert_eq!(learner.spent(), 140);
    }
}

/// The archive holds the newest champions, as many as asked.
#[test]
fn the_archive_keeps_the_newest() {
    let settings = everything();
    let four = steps(&settings, 2, 4);
    let five = steps(&settings, 2, 5);
    assert_eq!((four.archive().len(), five.archive().len()), (3, 3));
    assert_eq!(four.archive()[1..], five.archive()[..2]);
    assert_eq!(five.archive()[2], five.model());
    let all = steps(&CoevolutionConfig { archive: 0, ..settings }, 2, 5);
    assert_eq!(all.archive().len(), 5);
}

/// A tuple by its squares, with its table.
fn genes(network: &NTupleNetwork) -> Vec<(Tuple, Vec<f32>)> {
    let tables = network.tuples().offsets().zip(network.tuples().tuples());
    tables.map(|(at, t)| (t.clone(), network.weights()[at..at + t.entries()].to_vec())).collect()
}

#[test]
fn crossover_exchanges_half_of_the_tuples_whole() {
    let mut rng = stream(1, &["crossover"]);
    for tuples in [1, 2, 7, 12] {
        let settings =
            CoevolutionConfig { shape: TupleShape::Snakes { tuples, length: 4 }, spread: 1.0, ..everything() };
        for _ in 0..20 {
            let parents = [0, 1].map(|_| fresh(&settings, &mut rng).unwrap());
            let mut children = parents.clone();
            let [one, two] = &mut children;
            crossover(one, two, &mut rng).unwrap();
            let (parents, children) = (parents.map(|n| genes(&n)), children.map(|n| genes(&n)));
            let mut exchanged = 0;
            for place in 0..tuples {
                let kept = children[0][place] == parents[0][place];
                let (own, other) = if kept { (0, 1) } else { (1, 0) };
                assert_eq!(children[0][place], parents[own][place]);
                assert_eq!(children[1][place], parents[other][place]);
                exchanged += usize::from(!kept);
            }
            assert_eq!(exchanged, tuples / 2);
        }
    }
}

#[test]
fn mutations_keep_what_they_do_not_mean() {
    let mut rng = stream(2, &["mutation"]);
    let settings =
        CoevolutionConfig { shape: TupleShape::Snakes { tuples: 12, length: 6 }, spread: 1.0, ..everything() };
    let before = fresh(&settings, &mut rng).unwrap();
    assert!(before.weights().iter().all(|w| (-1.0..=1.0).contains(w)));
    let mut topology = before.clone();
    mutate_topology(&mut topology, 0.3, NeighborChoice::Uniform, &mut rng).unwrap();
    assert_eq!(topology.weights(), before.weights());
    assert_ne!(topology.tuples(), before.tuples());
    let lengths = |n: &NTupleNetwork| n.tuples().tuples().iter().map(Tuple::length).collect::<Vec<_>>();
    assert_eq!(lengths(&topology), lengths(&before));
    let mut weights = before.clone();
    mutate_weights(&mut weights, 0.05, 0.25, &mut rng);
    assert_eq!(weights.tuples(), before.tuples());
    let changes: Vec<f64> = weights
        .weights()
        .iter()
        .zip(before.weights())
        .map(|(a, b)| f64::from(a - b))
        .filter(|change| *change != 0.0)
        .collect();
    // Of 8,748 weights 5% change by a normal variate with variance 1/16; five deviations.
    let (n, count) = (8748.0, changes.len() as f64);
    assert!((count - 0.05 * n).abs() < 5.0 * (n * 0.05 * 0.95f64).sqrt(), "{count}");
    let variance = changes.iter().map(|c| c * c).sum::<f64>() / count;
    assert!((variance - 0.0625).abs() < 5.0 * 0.0625 * (2.0 / count).sqrt(), "{variance}");
}

/// The best of t draws has rank r or better with the probability 1 - (1 - r/n)^t.
#[test]
fn tournaments_favour_the_fit() {
    let fitness: Vec<u64> = (0..50).collect();
    let mut rng = stream(3, &["tournament"]);
    let n = 20_000;
    let top = (0..n).filter(|_| tournament(&fitness, 50, 5, &mut rng) >= 40).count() as f64;
    let expected = 1.0 - 0.8f64.powi(5);
    let deviation = (expected * (1.0 - expected) / f64::from(n)).sqrt();
    assert!((top / f64::from(n) - expected).abs() < 5.0 * deviation, "{top}");
}

fn plan(games: u64) -> TrainingPlan {
    let origin = Origin { method: "test".to_owned(), ..Origin::default() };
    TrainingPlan { games, unit: "games", measurements: 4, measure_start: false, origin, keep_models: true }
}

fn against(games: u32) -> OpponentEvaluator {
    let opponents = entries(&["heuristic".to_owned(), "random".to_owned()], 0.1).unwrap();
    OpponentEvaluator { opponents, games, random: 0.1, seed: 3, threads: 2 }
}

fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            for (inner, bytes) in tree(&entry.path()) {
                files.insert(format!("{name}/{inner}"), bytes);
            }
        } else {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Stopped after any step, a run comes to the same files as one that nothing disturbed. A kill
/// leaves a checkpoint of an earlier step, which is the same to whoever goes on from it.
#[test]
fn a_run_goes_on_to_the_same_bytes() {
    for (name, settings) in methods() {
        let games = 6 * settings.generation_games(1);
        let run = |folder: &Path, stop_after: Option<usize>, threads| {
            let mut learner = Coevolution::new(settings.clone(), 5, threads).unwrap();
            let mut seen = 0;
            let trained = train(&mut learner, &against(10), &plan(games), folder, |status| {
                assert!(status.games <= games);
                seen += 1;
                stop_after != Some(seen)
            });
            trained.unwrap()
        };
        let undisturbed = tempfile::tempdir().unwrap();
        let whole = run(undisturbed.path(), None, 1);
        assert!(whole.complete && whole.curve.len() >= 4, "{name}: {:?}", whole.curve);
        assert_eq!(whole.curve.last().unwrap().scores.len(), 2);
        let wanted = tree(undisturbed.path());
        for file in ["checkpoint.bin", "curve.csv", "model.safetensors", "models/004.safetensors"] {
            assert!(wanted.contains_key(file), "{name} has no {file}: {:?}", wanted.keys());
        }
        for stop_after in [1, 2, 4] {
            let folder = tempfile::tempdir().unwrap();
            assert!(!run(folder.path(), Some(stop_after), 2).complete);
            let resumed = run(folder.path(), None, 3);
            assert_eq!(resumed.curve, whole.curve, "{name}");
            assert_eq!(resumed.model, whole.model, "{name}");
            assert!(tree(folder.path()) == wanted, "{name} stopped after {stop_after}");
        }
    }
}

#[test]
fn a_damaged_or_foreign_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let go = |settings: CoevolutionConfig| {
        let mut learner = Coevolution::new(settings, 5, 1).unwrap();
        train(&mut learner, &against(10), &plan(40), folder.path(), |_| true).map(|_| ())
    };
    go(alone(1)).unwrap();
    let text = go(alone(2)).unwrap_err().to_string();
    assert!(text.contains("checkpoint.bin") && text.contains("another population"), "{text}");
    let path = folder.path().join("checkpoint.bin");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let text = go(alone(1)).unwrap_err().to_string();
    assert!(text.contains("damaged"), "{text}");
}

/// A run whose last checkpoint was damaged, or was being written when it died, goes on from the one
/// before, to the same files.
#[test]
fn the_checkpoint_before_the_last_is_kept() {
    let run = |folder: &Path, games: u64| {
        let mut learner = Coevolution::new(alone(1), 5, 1).unwrap();
        train(&mut learner, &against(10), &plan(40), folder, |status| status.games < games).unwrap()
    };
    let undisturbed = tempfile::tempdir().unwrap();
    assert!(run(undisturbed.path(), u64::MAX).complete);
    let wanted = tree(undisturbed.path());
    assert!(!wanted.contains_key("checkpoint-before.bin"));
    let harms: [fn(&Path); 2] = [
        |last| {
            let mut bytes = std::fs::read(last).unwrap();
            bytes[100] ^= 1;
            std::fs::write(last, bytes).unwrap();
        },
        |last| std::fs::remove_file(last).unwrap(),
    ];
    for harm in harms {
        let folder = tempfile::tempdir().unwrap();
        assert!(!run(folder.path(), 25).complete);
        assert!(folder.path().join("checkpoint-before.bin").exists());
        harm(&folder.path().join("checkpoint.bin"));
        assert!(run(folder.path(), u64::MAX).complete);
        assert!(tree(folder.path()) == wanted);
    }
}

/// Learning works at all: after a few thousand games it beats random moves beyond doubt.
#[test]
fn tdl_learns_to_beat_random_moves() {
    let settings = CoevolutionConfig {
        shape: TupleShape::Snakes { tuples: 7, length: 4 },
        self_games: 500,
        alpha: 0.005,
        ..alone(1)
    };
    let folder = tempfile::tempdir().unwrap();
    let mut learner = Coevolution::new(settings, 1, 2).unwrap();
    let trained = train(&mut learner, &against(400), &plan(4000), folder.path(), |_| true).unwrap();
    let last = trained.curve.last().unwrap();
    assert!(last.scores[1] - 2.0 * last.errors[1] > 50.0, "{last:?}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |settings: CoevolutionConfig, words: &[&str]| {
        let error = Coevolution::new(settings, 1, 1).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let settings = everything;
    refused(CoevolutionConfig { population: 0, ..settings() }, &["population", "not 0"]);
    refused(CoevolutionConfig { population: 10_001, ..settings() }, &["10001"]);
    let one = || alone(1);
    refused(CoevolutionConfig { tournament: 1, ..one() }, &["tournament", "population of 1"]);
    refused(CoevolutionConfig { crossover: 0.5, ..one() }, &["crossover", "population of 1"]);
    refused(
        CoevolutionConfig { population_opponents: 1, population_games: 1, ..one() },
        &["training with the population", "population of 1"],
    );
    refused(
        CoevolutionConfig { population_opponents: 2, population_games: 0, ..settings() },
        &["population-opponents = 2", "no game at all"],
    );
    refused(
        CoevolutionConfig { archive_opponents: 2, archive_games: 0, ..settings() },
        &["archive-opponents = 2", "no game at all"],
    );
    let blank = CoevolutionConfig { self_games: 0, spread: 0.0, weight_mutation: 0.0, ..alone(4) };
    refused(CoevolutionConfig { fitness: Fitness::RoundRobin, meetings: 1, ..blank }, &["begin at 0"]);
    refused(CoevolutionConfig { fitness: Fitness::RoundRobin, ..one() }, &["round robin"]);
    refused(CoevolutionConfig { population_opponents: 5, ..settings() }, &["5 opponents"]);
    refused(CoevolutionConfig { tournament: 6, ..settings() }, &["tournament of 6"]);
    refused(CoevolutionConfig { tournament: 2, ..alone(4) }, &["needs a fitness"]);
    refused(CoevolutionConfig { crossover: 1.0, ..alone(4) }, &["needs parents"]);
    refused(CoevolutionConfig { alpha: 0.0, ..settings() }, &["alpha"]);
    refused(CoevolutionConfig { alpha: f64::NAN, ..settings() }, &["alpha"]);
    refused(CoevolutionConfig { epsilon: 1.5, ..settings() }, &["epsilon", "1.5"]);
    refused(CoevolutionConfig { spread: f64::INFINITY, ..settings() }, &["spread"]);
    refused(CoevolutionConfig { meetings: 3, ..settings() }, &["1 or 2 times"]);
    refused(CoevolutionConfig { self_games: 0, ..one() }, &["nobody plays"]);
    refused(CoevolutionConfig { self_games: u64::MAX, ..settings() }, &["more games"]);
    refused(
        CoevolutionConfig { shape: "100x12".parse().unwrap(), ..settings() },
        &["shape 100x12", "weights together"],
    );
    for (text, word) in [
        ("12x0", "1 to 12 squares, not 0"),
        ("12x13", "1 to 12 squares, not 13"),
        ("0x4", "tuples of length 4, not 0"),
        ("9999999x12", "tuples of length 12"),
        ("all9", "1 to 8 squares"),
        ("twelve", "such as 12x6"),
        ("x", "such as 12x6"),
        ("-1x6", "such as 12x6"),
    ] {
        let error = text.parse::<TupleShape>().unwrap_err();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn budgets_must_pay_for_what_is_asked() {
    let settings = everything();
    let generation = settings.generation_games(0);
    assert!(settings.check_budget(100 * generation).is_ok());
    let text = settings.check_budget(generation - 1).unwrap_err().to_string();
    assert!(text.contains("one generation takes"), "{text}");
    let large = CoevolutionConfig { archive: 1000, ..everything() };
    let text = large.check_budget(100 * generation).unwrap_err().to_string();
    assert!(text.contains("archive of 1000 is larger than the budget"), "{text}");
    let fame = CoevolutionConfig { hall_of_fame: 100_000, ..everything() };
    let text = fame.check_budget(100 * generation).unwrap_err().to_string();
    assert!(text.contains("larger than the budget"), "{text}");
}

#[test]
fn settings_survive_their_file_and_name_unknown_keys() {
    for (name, settings) in methods() {
        let text = toml::to_string(&settings.to_table()).unwrap();
        assert_eq!(CoevolutionConfig::from_toml(&text), Ok(settings), "{name}");
    }
    let text = toml::to_string(&everything().to_table()).unwrap();
    let wrong = text.replace("crossover", "crosover");
    let error = CoevolutionConfig::from_toml(&wrong).unwrap_err();
    assert!(matches!(&error, CoevolutionConfigError::Unknown { .. }));
    assert!(error.to_string().contains("did you mean 'crossover'?"), "{error}");
    let missing = text.replace("alpha = 0.01\n", "");
    let error = CoevolutionConfig::from_toml(&missing).unwrap_err().to_string();
    assert!(error.contains("alpha"), "{error}");
    for (from, to) in [("\"4x3\"", "\"4x99\""), ("\"uniform\"", "\"nearest\""), ("0.01", "\"x\"")] {
        assert!(CoevolutionConfig::from_toml(&text.replace(from, to)).is_err(), "{to}");
    }
    assert!(CoevolutionConfig::from_toml("a = = 3").is_err());
}
