//! Properties of all supervised methods.

use super::*;
use crate::contract::check_learner;
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
        let result = train(method, data, &MethodOptions::default(), 1, &mut |_| true);
        assert_eq!(
            result.err(),
            Some(TrainError::IndistinguishableMoves(first.len())),
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
        let outcome = train(method, data, &options, 1, &mut |learner| {
            last = learner.model().ok();
            true
        });
        let networks = [Some(outcome.unwrap().model), last].map(|model| match model {
            Some(Model::NTuple(network)) => (*network).clone(),
            _ => panic!("{method:?}"),
        });
        assert_eq!(networks[0], networks[1], "{method:?}");
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
        let result = train(method, data, &MethodOptions::default(), 1, &mut |_| true);
        let Err(TrainError::TooLarge { games: fits, .. }) = result else {
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
        let outcome = train(method, data, &options, 1, &mut |_| true).unwrap();
        assert!(outcome.remarks[0].starts_with("The solver did not converge in 1 "));
    }
    let ridge = MethodOptions { ridge: 1e-300, ..MethodOptions::default() };
    let data = TrainingData::new(games, &choices, Tuples::squares());
    let outcome = train(Method::Lstd, data, &ridge, 1, &mut |_| true).unwrap();
    assert!(outcome.remarks[0].contains("it was raised to"), "{:?}", outcome.remarks);
}

#[test]
fn supervised_methods_fulfill_the_contract() {
    let games = outflank_records::embedded::games();
    let (choices, games) = choices_of(&games[..12]);
    let default = MethodOptions { epochs: 3, discs_per_stage: 20, ..MethodOptions::default() };
    let online = MethodOptions { online: true, ..default };
    for (method, options) in [
        (Method::IPref, default),
        (Method::Pref, MethodOptions { tolerance: 0.5, ..MethodOptions::dual() }),
        (Method::Classify, default),
        (Method::Mm, default),
        (Method::IPref, online),
        (Method::MovePredictor, online),
    ] {
        let new = || {
            let data = TrainingData::new(games, &choices, Tuples::squares());
            learner(method, data, &options, 1).unwrap()
        };
        let budget = max_iterations(method, &options, games.len());
        check_learner(new, budget / new().next_cost());
    }
}

/// LSTD stores only its solution, so it resumes after its last step.
#[test]
fn lstd_resumes_from_its_solution() {
    let games = outflank_records::embedded::games();
    let (choices, games) = choices_of(&games[..12]);
    let new = || {
        let data = TrainingData::new(games, &choices, Tuples::squares());
        learner(Method::Lstd, data, &MethodOptions::default(), 1).unwrap()
    };
    let (mut whole, mut resumed) = (new(), new());
    while !whole.is_converged() {
        whole.step().unwrap();
    }
    resumed.restore(&whole.state().unwrap()).unwrap();
    assert!(resumed.is_converged());
    assert_eq!(resumed.state(), whole.state());
    assert_eq!(resumed.summary(), whole.summary());
    assert!(new().restore(&[vec![1]]).is_err());
}

/// The examples seen are the choices of the games without random moves, counted by replaying them.
#[test]
fn the_examples_seen_are_those_of_the_games() {
    let games = outflank_records::embedded::games();
    let (choices, games) = choices_of(&games[..12]);
    let (mut all, mut with_alternative) = (0, 0);
    for game in games {
        let mut position = Othello::start();
        for ply in game.plies() {
            all += 1;
            with_alternative += u64::from(!ply.random && position.moves().count() > 1);
            position = position.play(ply.mv);
        }
    }
    let options = MethodOptions { epochs: 3, ..MethodOptions::default() };
    for (method, online, expected) in [
        (Method::IPref, false, with_alternative),
        (Method::Mm, false, with_alternative),
        (Method::Lstd, false, all),
        (Method::IPref, true, 3 * with_alternative),
        (Method::MovePredictor, true, 3 * with_alternative),
    ] {
        let options = MethodOptions { online, ..options };
        let data = TrainingData::new(games, &choices, Tuples::squares());
        let mut learner = learner(method, data, &options, 1).unwrap();
        let budget = max_iterations(method, &options, games.len());
        while !learner.is_converged() && learner.spent() + learner.next_cost() <= budget {
            learner.step().unwrap();
        }
        assert_eq!(learner.counts().examples, Some(expected), "{method:?}");
    }
}
