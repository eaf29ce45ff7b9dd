//! Properties of all coevolution methods.

use outflank_learners::coevolution::variation::{
    crossover, mutate_topology, mutate_weights, random_individual, tournament,
};
use outflank_learners::coevolution::{
    Coevolution, CoevolutionConfig, CoevolutionConfigError, Fitness, TupleShape,
};
use outflank_learners::tdl::{self, TdlConfig};
use outflank_learners::training::{Learner, OpponentEvaluator, Schedule, Trainer, TrainingPlan};
use outflank_models::files::Origin;
use outflank_models::tuple_shapes::{NeighborChoice, Snake};
use outflank_models::{NTupleNetwork, Tuple};
use outflank_players::registry::factories;
use outflank_runs::rng::stream;
use std::collections::BTreeMap;
use std::path::Path;

/// A small method with all phases.
fn all_phases() -> CoevolutionConfig {
    CoevolutionConfig {
        shape: TupleShape::Snakes { tuples: 4, length: 3 },
        snake: Snake::Clean,
        init_range: 0.0,
        population: 5,
        learning_rate: 0.01,
        epsilon: 0.1,
        self_play_games: 4,
        population_opponents: 2,
        population_games: 2,
        archive_opponents: 2,
        archive_games: 2,
        archive_newest: false,
        archive_size: 3,
        fitness: Fitness::RoundRobin,
        games_per_pair: 2,
        hall_of_fame_games: 3,
        heuristic_games: 4,
        heuristic_random: 0.1,
        tournament_size: 3,
        crossover: 0.8,
        weight_mutation: 0.05,
        weight_deviation: 0.25,
        topology_mutation: 0.1,
        topology: NeighborChoice::Uniform,
    }
}

/// Training only.
fn training_only(population: usize) -> CoevolutionConfig {
    CoevolutionConfig {
        population,
        population_opponents: 0,
        archive_opponents: 0,
        archive_size: 0,
        fitness: Fitness::None,
        hall_of_fame_games: 0,
        tournament_size: 0,
        crossover: 0.0,
        weight_mutation: 0.0,
        topology_mutation: 0.0,
        ..all_phases()
    }
}

fn methods() -> Vec<(&'static str, CoevolutionConfig)> {
    vec![
        ("all phases", all_phases()),
        (
            "newest archive members",
            CoevolutionConfig {
                archive_newest: true,
                topology: NeighborChoice::Crowded,
                snake: Snake::Wrapping,
                ..all_phases()
            },
        ),
        (
            "heuristic fitness",
            CoevolutionConfig {
                fitness: Fitness::Heuristic,
                hall_of_fame_games: 0,
                ..all_phases()
            },
        ),
        ("systematic", CoevolutionConfig { shape: "all2+2x2".parse().unwrap(), ..all_phases() }),
        ("one individual", training_only(1)),
        ("several individuals", training_only(4)),
        (
            "without training",
            CoevolutionConfig {
                init_range: 1.0,
                self_play_games: 0,
                population_opponents: 0,
                archive_opponents: 0,
                ..all_phases()
            },
        ),
    ]
}

fn steps(config: &CoevolutionConfig, threads: usize, steps: usize) -> Coevolution {
    let mut learner = Coevolution::new(config.clone(), 3, threads).unwrap();
    (0..steps).for_each(|_| learner.step().unwrap());
    learner
}

/// Budgets add up, populations keep their size, the same seed gives the same bytes on any number of
/// threads, and a restored state continues identically.
#[test]
fn every_method_is_reproducible_and_resumable() {
    for (name, config) in methods() {
        let mut learner = Coevolution::new(config.clone(), 3, 1).unwrap();
        let mut spent = 0;
        for _ in 0..3 {
            spent += learner.next_cost();
            learner.step().unwrap();
            assert_eq!(learner.spent(), spent, "{name}");
            assert_eq!(learner.population().len(), config.population, "{name}");
            let finite = |network: &NTupleNetwork| network.weights().iter().all(|w| w.is_finite());
            assert!(learner.population().iter().all(finite), "{name}");
        }
        let bytes = learner.state().unwrap();
        for threads in [2, 5] {
            assert!(steps(&config, threads, 3).state().unwrap() == bytes, "{name}, {threads}");
        }
        let mut resumed = Coevolution::new(config.clone(), 3, 2).unwrap();
        resumed.restore(&steps(&config, 1, 2).state().unwrap()).unwrap();
        resumed.step().unwrap();
        assert!(resumed.state().unwrap() == bytes, "{name} resumed");
        assert_eq!(resumed.model(), learner.model(), "{name}");
        assert!(Coevolution::new(config, 4, 1).unwrap().state().unwrap() != bytes);
    }
}

/// A population of one without variation is bit-identical to TDL.
#[test]
fn one_individual_without_variation_is_tdl() {
    for games in [1, 7, 20] {
        let config = CoevolutionConfig { self_play_games: games, ..training_only(1) };
        let mut learner = Coevolution::new(config.clone(), 9, 2).unwrap();
        let mut network = learner.population()[0].clone();
        (0..140 / games).for_each(|_| learner.step().unwrap());
        let tdl_config = TdlConfig { learning_rate: config.learning_rate, epsilon: config.epsilon };
        tdl::train(&mut network, tdl_config, 9, 0, 140);
        assert_eq!(learner.model().unwrap(), network);
        assert_eq!(learner.spent(), 140);
    }
}

#[test]
fn the_archive_holds_the_newest_best_individuals() {
    let config = all_phases();
    let four = steps(&config, 2, 4);
    let five = steps(&config, 2, 5);
    assert_eq!((four.archive().len(), five.archive().len()), (3, 3));
    assert_eq!(four.archive()[1..], five.archive()[..2]);
    assert_eq!(five.archive()[2], five.model().unwrap());
    let all = steps(&CoevolutionConfig { archive_size: 0, ..config }, 2, 5);
    assert_eq!(all.archive().len(), 5);
}

/// Returns the tuples with their weights.
fn genes(network: &NTupleNetwork) -> Vec<(Tuple, Vec<f32>)> {
    let tables = network.tuples().offsets().zip(network.tuples().tuples());
    tables.map(|(at, t)| (t.clone(), network.weights()[at..at + t.entries()].to_vec())).collect()
}

#[test]
fn crossover_exchanges_half_of_the_tuples() {
    let mut rng = stream(1, &["crossover"]);
    for tuples in [1, 2, 7, 12] {
        let config = CoevolutionConfig {
            shape: TupleShape::Snakes { tuples, length: 4 },
            init_range: 1.0,
            ..all_phases()
        };
        for _ in 0..20 {
            let parents = [0, 1].map(|_| random_individual(&config, &mut rng).unwrap());
            let mut children = parents.clone();
            let [one, two] = &mut children;
            crossover(one, two, &mut rng).unwrap();
            let (parents, children) = (parents.map(|n| genes(&n)), children.map(|n| genes(&n)));
            let mut exchanged = 0;
            for at in 0..tuples {
                let unchanged = children[0][at] == parents[0][at];
                let (own, other) = if unchanged { (0, 1) } else { (1, 0) };
                assert_eq!(children[0][at], parents[own][at]);
                assert_eq!(children[1][at], parents[other][at]);
                exchanged += usize::from(!unchanged);
            }
            assert_eq!(exchanged, tuples / 2);
        }
    }
}

#[test]
fn mutations_change_only_their_part() {
    let mut rng = stream(2, &["mutation"]);
    let config = CoevolutionConfig {
        shape: TupleShape::Snakes { tuples: 12, length: 6 },
        init_range: 1.0,
        ..all_phases()
    };
    let before = random_individual(&config, &mut rng).unwrap();
    assert!(before.weights().iter().all(|w| (-1.0..=1.0).contains(w)));
    let mut topology = before.clone();
    mutate_topology(&mut topology, 0.3, NeighborChoice::Uniform, &mut rng).unwrap();
    assert_eq!(topology.weights(), before.weights());
    assert_ne!(topology.tuples(), before.tuples());
    let lengths =
        |n: &NTupleNetwork| n.tuples().tuples().iter().map(Tuple::length).collect::<Vec<_>>();
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
    // 5% of 8,748 weights change by a normal variate with variance 1/16, within five standard
    // errors.
    let (n, count) = (8748.0, changes.len() as f64);
    assert!((count - 0.05 * n).abs() < 5.0 * (n * 0.05 * 0.95f64).sqrt(), "{count}");
    let variance = changes.iter().map(|c| c * c).sum::<f64>() / count;
    assert!((variance - 0.0625).abs() < 5.0 * 0.0625 * (2.0 / count).sqrt(), "{variance}");
}

/// The best of t draws is among the top r of n with probability 1 - (1 - r/n)^t.
#[test]
fn tournaments_favor_the_fit() {
    let fitness: Vec<u64> = (0..50).collect();
    let mut rng = stream(3, &["tournament"]);
    let n = 20_000;
    let top = (0..n).filter(|_| tournament(&fitness, 50, 5, &mut rng) >= 40).count() as f64;
    let expected = 1.0 - 0.8f64.powi(5);
    let deviation = (expected * (1.0 - expected) / f64::from(n)).sqrt();
    assert!((top / f64::from(n) - expected).abs() < 5.0 * deviation, "{top}");
}

fn trainer(games: u64) -> Trainer {
    let origin = Origin { method: "test".to_owned(), ..Origin::default() };
    Trainer::new(TrainingPlan {
        schedule: Schedule::Even(4),
        keep_models: true,
        ..TrainingPlan::new(games, "games", origin)
    })
}

fn against(games: u32) -> OpponentEvaluator {
    let opponents = factories(&["heuristic".to_owned(), "random".to_owned()], 0.1).unwrap();
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

/// A run that was stopped after any step resumes to the same files as an uninterrupted one.
#[test]
fn stopped_runs_resume_to_the_same_bytes() {
    for (name, config) in methods() {
        let games = 6 * config.generation_games(1);
        let run = |folder: &Path, stop_after: Option<usize>, threads| {
            let mut learner = Coevolution::new(config.clone(), 5, threads).unwrap();
            let mut seen = 0;
            let trained = trainer(games).run(&mut learner, &against(10), folder, |status| {
                assert!(status.spent <= games);
                seen += 1;
                stop_after != Some(seen)
            });
            trained.unwrap()
        };
        let uninterrupted = tempfile::tempdir().unwrap();
        let whole = run(uninterrupted.path(), None, 1);
        assert!(whole.complete && whole.curve.len() >= 4, "{name}: {:?}", whole.curve);
        assert_eq!(whole.curve.last().unwrap().scores.len(), 2);
        let wanted = tree(uninterrupted.path());
        for file in ["checkpoint.bin", "metrics.csv", "model.safetensors", "models/004.safetensors"]
        {
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
fn damaged_and_foreign_checkpoints_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let run = |config: CoevolutionConfig| {
        let mut learner = Coevolution::new(config, 5, 1).unwrap();
        trainer(40).run(&mut learner, &against(10), folder.path(), |_| true).map(|_| ())
    };
    run(training_only(1)).unwrap();
    let text = run(training_only(2)).unwrap_err().to_string();
    assert!(text.contains("checkpoint.bin") && text.contains("another population"), "{text}");
    let path = folder.path().join("checkpoint.bin");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let text = run(training_only(1)).unwrap_err().to_string();
    assert!(text.contains("damaged"), "{text}");
}

/// A run whose last checkpoint is damaged or missing resumes from the previous one, to the same
/// files.
#[test]
fn runs_resume_from_the_previous_checkpoint() {
    let run = |folder: &Path, games: u64| {
        let mut learner = Coevolution::new(training_only(1), 5, 1).unwrap();
        trainer(40).run(&mut learner, &against(10), folder, |status| status.spent < games).unwrap()
    };
    let uninterrupted = tempfile::tempdir().unwrap();
    assert!(run(uninterrupted.path(), u64::MAX).complete);
    let wanted = tree(uninterrupted.path());
    assert!(!wanted.contains_key("checkpoint-before.bin"));
    let damages: [fn(&Path); 2] = [
        |last| {
            let mut bytes = std::fs::read(last).unwrap();
            bytes[100] ^= 1;
            std::fs::write(last, bytes).unwrap();
        },
        |last| std::fs::remove_file(last).unwrap(),
    ];
    for damage in damages {
        let folder = tempfile::tempdir().unwrap();
        assert!(!run(folder.path(), 25).complete);
        assert!(folder.path().join("checkpoint-before.bin").exists());
        damage(&folder.path().join("checkpoint.bin"));
        assert!(run(folder.path(), u64::MAX).complete);
        assert!(tree(folder.path()) == wanted);
    }
}

/// After a few thousand games the score against random moves is significantly above one half.
#[test]
fn tdl_learns_to_beat_random_moves() {
    let config = CoevolutionConfig {
        shape: TupleShape::Snakes { tuples: 7, length: 4 },
        self_play_games: 500,
        learning_rate: 0.005,
        ..training_only(1)
    };
    let folder = tempfile::tempdir().unwrap();
    let mut learner = Coevolution::new(config, 1, 2).unwrap();
    let trained = trainer(4000).run(&mut learner, &against(400), folder.path(), |_| true).unwrap();
    let last = trained.curve.last().unwrap();
    assert!(last.scores[1] - 2.0 * last.errors[1] > 50.0, "{last:?}");
}

#[test]
fn invalid_configurations_are_errors() {
    let check = |config: CoevolutionConfig, words: &[&str]| {
        let error = Coevolution::new(config, 1, 1).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let config = all_phases;
    check(CoevolutionConfig { population: 0, ..config() }, &["population", "not 0"]);
    check(CoevolutionConfig { population: 10_001, ..config() }, &["10001"]);
    let one = || training_only(1);
    check(CoevolutionConfig { tournament_size: 1, ..one() }, &["tournament", "population of 1"]);
    check(CoevolutionConfig { crossover: 0.5, ..one() }, &["crossover", "population of 1"]);
    check(
        CoevolutionConfig { population_opponents: 1, population_games: 1, ..one() },
        &["training with the population", "population of 1"],
    );
    check(
        CoevolutionConfig { population_opponents: 2, population_games: 0, ..config() },
        &["population-opponents = 2", "has no effect"],
    );
    check(
        CoevolutionConfig { archive_opponents: 2, archive_games: 0, ..config() },
        &["archive-opponents = 2", "has no effect"],
    );
    let blank = CoevolutionConfig {
        self_play_games: 0,
        init_range: 0.0,
        weight_mutation: 0.0,
        ..training_only(4)
    };
    check(
        CoevolutionConfig { fitness: Fitness::RoundRobin, games_per_pair: 1, ..blank },
        &["start at 0"],
    );
    check(CoevolutionConfig { fitness: Fitness::RoundRobin, ..one() }, &["round-robin"]);
    check(CoevolutionConfig { population_opponents: 5, ..config() }, &["5 opponents"]);
    check(CoevolutionConfig { tournament_size: 6, ..config() }, &["tournament of 6"]);
    check(CoevolutionConfig { tournament_size: 2, ..training_only(4) }, &["needs a fitness"]);
    check(CoevolutionConfig { crossover: 1.0, ..training_only(4) }, &["needs parents"]);
    check(CoevolutionConfig { learning_rate: 0.0, ..config() }, &["learning-rate"]);
    check(CoevolutionConfig { learning_rate: f64::NAN, ..config() }, &["learning-rate"]);
    check(CoevolutionConfig { epsilon: 1.5, ..config() }, &["epsilon", "1.5"]);
    check(CoevolutionConfig { init_range: f64::INFINITY, ..config() }, &["init-range"]);
    check(CoevolutionConfig { games_per_pair: 3, ..config() }, &["games-per-pair", "1 or 2"]);
    check(CoevolutionConfig { self_play_games: 0, ..one() }, &["no games"]);
    check(CoevolutionConfig { self_play_games: u64::MAX, ..config() }, &["more than"]);
    check(
        CoevolutionConfig { shape: "100x12".parse().unwrap(), ..config() },
        &["shape 100x12", "weights, more than"],
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
fn budgets_smaller_than_a_generation_or_the_archive_are_errors() {
    let config = all_phases();
    let generation = config.generation_games(0);
    assert!(config.validate_budget(100 * generation).is_ok());
    let text = config.validate_budget(generation - 1).unwrap_err().to_string();
    assert!(text.contains("one generation takes"), "{text}");
    let large = CoevolutionConfig { archive_size: 1000, ..all_phases() };
    let text = large.validate_budget(100 * generation).unwrap_err().to_string();
    assert!(text.contains("archive of 1000 is larger than the budget"), "{text}");
    let hall_of_fame = CoevolutionConfig { hall_of_fame_games: 100_000, ..all_phases() };
    let text = hall_of_fame.validate_budget(100 * generation).unwrap_err().to_string();
    assert!(text.contains("larger than the budget"), "{text}");
}

fn from_toml(text: &str) -> Result<CoevolutionConfig, CoevolutionConfigError> {
    CoevolutionConfig::from_table(&text.parse().unwrap())
}

#[test]
fn configurations_round_trip_and_unknown_keys_are_named() {
    for (name, config) in methods() {
        let text = toml::to_string(&config.to_table()).unwrap();
        assert_eq!(from_toml(&text), Ok(config), "{name}");
    }
    let text = toml::to_string(&all_phases().to_table()).unwrap();
    let wrong = text.replace("crossover", "crosover");
    let error = from_toml(&wrong).unwrap_err();
    assert!(matches!(&error, CoevolutionConfigError::Unknown { .. }));
    assert!(error.to_string().contains("did you mean 'crossover'?"), "{error}");
    let missing = text.replace("learning-rate = 0.01\n", "");
    let error = from_toml(&missing).unwrap_err().to_string();
    assert!(error.contains("learning-rate"), "{error}");
    for (from, to) in [("\"4x3\"", "\"4x99\""), ("\"uniform\"", "\"nearest\""), ("0.01", "\"x\"")] {
        assert!(from_toml(&text.replace(from, to)).is_err(), "{to}");
    }
}
