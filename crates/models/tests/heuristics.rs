//! Tests of heuristics: properties of features, and files.

use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Symmetry};
use outflank_games::{Position, Side};
use outflank_models::files::{
    self, AnyHeuristic, Origin, load_heuristic, read_heuristic, save_heuristic, write_heuristic,
};
use outflank_models::{Evaluate, Heuristic, NamedFeatures, embedded};
use outflank_runs::{Rng, RngExt, rng};

/// Returns positions from random games.
fn positions<P: Position>(count: usize, rng: &mut Rng) -> Vec<P> {
    let mut positions = Vec::new();
    let mut position = P::start();
    while positions.len() < count {
        positions.push(position);
        let moves: Vec<_> = position.moves().collect();
        position = match rng.pick(&moves) {
            Some(&mv) => position.play(mv),
            None => P::start(),
        };
    }
    positions
}

fn random_heuristic<P: NamedFeatures>(rng: &mut Rng) -> Heuristic<P> {
    let weights: Vec<f32> = P::FEATURES.iter().map(|_| rng.normal() as f32).collect();
    Heuristic::new(&weights).unwrap()
}

fn check_antisymmetry<P: NamedFeatures>() {
    let mut rng = rng::stream(3, &["heuristics"]);
    let mut nonzero = [false; 8];
    for position in positions::<P>(2000, &mut rng) {
        let (own, other) = (position.features(Side::Black), position.features(Side::White));
        let swapped = position.swap_sides().features(Side::White);
        for at in 0..8 {
            assert!(own[at].abs() <= 1.0, "{position} {own:?}");
            assert_eq!(own[at], -other[at], "{position}");
            assert_eq!(own[at], swapped[at], "{position}");
            assert!(at < P::FEATURES.len() || own[at] == 0.0);
            nonzero[at] |= own[at] != 0.0;
        }
    }
    assert!(nonzero[..P::FEATURES.len()].iter().all(|&nonzero| nonzero), "{nonzero:?}");
}

#[test]
fn features_are_antisymmetric() {
    check_antisymmetry::<Othello>();
    check_antisymmetry::<Checkers>();
    assert_eq!(Othello::start().features(Side::Black), [0.0; 8]);
    assert_eq!(Checkers::start().features(Side::White), [0.0; 8]);
}

#[test]
fn symmetric_boards_have_equal_features() {
    let mut rng = rng::stream(4, &["heuristics"]);
    for position in positions::<Othello>(300, &mut rng) {
        for symmetry in Symmetry::ALL {
            let transformed = position.transform(symmetry).features(Side::Black);
            assert_eq!(transformed, position.features(Side::Black));
            assert_eq!(position.transform(symmetry).canonical_form(), position.canonical_form());
        }
    }
}

fn check_move_values<P: NamedFeatures>() {
    let mut rng = rng::stream(5, &["heuristics"]);
    let mut values = Vec::new();
    for position in positions::<P>(500, &mut rng) {
        let heuristic = random_heuristic::<P>(&mut rng);
        let moves: Vec<_> = position.moves().collect();
        heuristic.move_values(&position, &moves, &mut values);
        let side = position.to_move();
        for (&mv, &value) in moves.iter().zip(&values) {
            let after = position.play(mv);
            assert_eq!(value, heuristic.value(&after, side));
            let sum: f64 = heuristic
                .weights()
                .iter()
                .zip(after.features(side))
                .map(|(&w, x)| f64::from(w) * f64::from(x))
                .sum();
            assert!((f64::from(value) - sum).abs() < 1e-5);
        }
        assert_eq!(values.len(), moves.len());
    }
}

#[test]
fn move_values_equal_afterstate_values() {
    check_move_values::<Othello>();
    check_move_values::<Checkers>();
}

#[test]
fn wrong_number_of_weights_is_rejected() {
    assert!(Heuristic::<Othello>::new(&[0.0; 8]).is_some());
    assert!(Heuristic::<Othello>::new(&[0.0; 7]).is_none());
    assert!(Heuristic::<Checkers>::new(&[0.0; 8]).is_none());
    assert!(Heuristic::<Checkers>::new(&[0.0, 1.0, f32::NAN, 0.0, 0.0, 0.0]).is_none());
}

#[test]
fn heuristic_files_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    let mut rng = rng::stream(6, &["heuristics"]);
    let origin = Origin { method: "gp".to_owned(), seed: Some(9), ..Origin::default() };
    for _ in 0..50 {
        let both: [AnyHeuristic; 2] = [
            random_heuristic::<Othello>(&mut rng).into(),
            random_heuristic::<Checkers>(&mut rng).into(),
        ];
        for heuristic in both {
            save_heuristic(&path, &heuristic, &origin).unwrap();
            assert_eq!(load_heuristic(&path).unwrap(), (heuristic, origin.clone()));
        }
    }
    assert!(files::is_heuristic(&path) && !files::is_heuristic(folder.path()));
    assert!(files::load(&path).unwrap_err().to_string().contains("named features"));
}

#[test]
fn errors_describe_the_invalid_part() {
    let zero = Heuristic::<Checkers>::new(&[0.0; 6]).unwrap();
    let good = write_heuristic(&zero.into(), &Origin::default()).unwrap();
    assert!(read_heuristic(&good).is_ok());
    // Integers are accepted, and the origin is optional.
    let short = good.split("[origin]").next().unwrap().replace("0.0", "1");
    assert!(read_heuristic(&short).is_ok(), "{short}");
    for (from, to, message) in [
        ("kind = \"heuristic\"", "kind = \"net\"", "the kind is 'net'"),
        ("\"checkers\"", "\"chess\"", "unknown game 'chess'"),
        ("\"checkers\"", "\"othello\"", "othello has no feature"),
        ("men = 0.0\n", "", "the weight of 'men' is missing"),
        ("men = 0.0", "men = nan", "'men' is not a finite number"),
        ("men = 0.0", "men = \"1\"", "'men' is not a number"),
        ("men = 0.0", "mem = 0.0", "no feature 'mem'"),
        ("[weights]", "[weight]", "weight"),
        ("men = 0.0", "men = ", "line"),
        ("kind", "colour = 1\nkind", "colour"),
    ] {
        let error = read_heuristic(&good.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    assert!(read_heuristic("").is_err());
}

#[test]
fn embedded_heuristics_parse() {
    let othello = embedded::gp().expect("a heuristic of Othello");
    assert_eq!(othello.weights().len(), 8);
    let checkers = embedded::gp_checkers().expect("a heuristic of checkers");
    assert_eq!(checkers.weights().len(), 6);
}
