//! Properties of all supervised methods.

use super::*;
use outflank_models::embedded;
use outflank_records::{DecisionFilter, decisions};

fn choices_of(games: &[Record<Othello>]) -> (Vec<Decision<Othello>>, &[Record<Othello>]) {
    (decisions(games, &DecisionFilter::CHOICES).items().to_vec(), games)
}

/// The four first moves are symmetric, so symmetric features cannot distinguish them.
#[test]
fn features_that_never_differ_are_an_error() {
    let games = &outflank_records::embedded::games()[..20];
    let position = Othello::start();
    let first: Vec<_> = position.moves().map(|chosen| Decision { position, chosen }).collect();
    for method in Method::ALL {
        let data = TrainingData::new(games, &first, embedded::runarsson_lucas_tuples());
        let result = learn(method, data, &MethodOptions::default(), 1, &mut |_| true);
        assert_eq!(
            result.err(),
            Some(LearnError::IndistinguishableMoves(first.len())),
            "{method:?}"
        );
    }
}

/// The model of the last iteration is the result.
#[test]
fn the_last_iteration_has_the_final_model() {
    let games = outflank_records::embedded::games();
    let (choices, games) = choices_of(&games[..10]);
    for (method, dual) in [
        (Method::IPref, false),
        (Method::Pref, true),
        (Method::Classify, false),
        (Method::Mm, false),
    ] {
        let options = if dual { MethodOptions::dual() } else { MethodOptions::default() };
        let data = TrainingData::new(games, &choices, embedded::runarsson_lucas_tuples());
        let mut last = None;
        let outcome = learn(method, data, &options, 1, &mut |progress| {
            last = progress.model.and_then(|model| model());
            true
        });
        let Model::NTuple(network) = outcome.unwrap().model else { panic!("{method:?}") };
        assert_eq!(last, Some((*network).clone()), "{method:?}");
    }
}

/// Too many games are rejected before memory is allocated.
#[test]
fn too_many_games_are_rejected_before_allocation() {
    let games = outflank_records::embedded::games();
    let (choices, games) = choices_of(&games[..1000]);
    let many = choices.repeat(80);
    for method in [Method::IPref, Method::Classify, Method::Mm] {
        let data = TrainingData::new(games, &many, embedded::runarsson_lucas_tuples());
        let result = learn(method, data, &MethodOptions::default(), 1, &mut |_| true);
        let Err(LearnError::TooLarge { games: fits, .. }) = result else {
            panic!("{method:?} {result:?}")
        };
        // The suggestion is a round number that fits.
        assert!((50..1000).contains(&fits) && fits % 10 == 0, "{fits}");
        let share = memory::bytes(method, &embedded::runarsson_lucas_tuples(), &many) * fits as f64
            / 1000.0;
        assert!(share <= memory::MAX_BYTES && share > 0.8 * memory::MAX_BYTES, "{method:?} {fits}");
    }
}

#[test]
fn missed_tolerances_are_reported() {
    let games = outflank_records::embedded::games();
    let (choices, games) = choices_of(&games[..10]);
    let options =
        MethodOptions { max_iterations: 1, mm_max_iterations: 1, ..MethodOptions::default() };
    for method in [Method::IPref, Method::Classify, Method::Mm] {
        let data = TrainingData::new(games, &choices, Tuples::squares());
        let outcome = learn(method, data, &options, 1, &mut |_| true).unwrap();
        assert!(outcome.remarks[0].starts_with("The solver did not converge in 1 "));
    }
    let ridge = MethodOptions { ridge: 1e-300, ..MethodOptions::default() };
    let data = TrainingData::new(games, &choices, Tuples::squares());
    let outcome = learn(Method::Lstd, data, &ridge, 1, &mut |_| true).unwrap();
    assert!(outcome.remarks[0].contains("it was raised to"), "{:?}", outcome.remarks);
    assert_eq!(count(1_234_567), "1,234,567");
}
