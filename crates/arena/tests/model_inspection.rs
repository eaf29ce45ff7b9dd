//! Model inspection against models with known weights.

use outflank_arena::model_inspection::{
    Region, afterstates, disc_values, extreme_entries, game_move_preferences,
    model_move_preferences, sample,
};
use outflank_games::othello::Square;
use outflank_models::{NTupleNetwork, OnePlyPolicy, Tuples, View, embedded};
use outflank_records::{DecisionFilter, decisions};

/// Returns up to 500 choices of the first `games` embedded games.
fn sample_choices(
    games: usize,
) -> Vec<outflank_records::Decision<outflank_games::othello::Othello>> {
    let games = &outflank_records::embedded::games()[..games];
    sample(decisions(games, &DecisionFilter::CHOICES).items(), 500)
}

/// A piece counter adds the weight of an own disc and subtracts that of an opponent's disc, so
/// replacing one by the other changes the value by twice the weight, for either color.
#[test]
fn disc_values_of_a_piece_counter_are_twice_its_weights() {
    let positions = afterstates(&sample_choices(40));
    let found = disc_values(&embedded::heuristic(), &positions);
    for (square, weight) in embedded::HEURISTIC.iter().enumerate() {
        let found = found.squares[square];
        assert!(found.is_nan() || (found - 2.0 * f64::from(*weight)).abs() < 1e-5, "{square}");
    }
    let region_value = |region: Region| found.regions[region as usize];
    assert!((region_value(Region::Corner) - 2.0).abs() < 1e-5);
    assert!(
        (region_value(Region::OpenX) + 0.5).abs() < 1e-5
            && (region_value(Region::ClosedX) + 0.5).abs() < 1e-5
    );
    assert!(
        (region_value(Region::OpenC) + 0.5).abs() < 1e-5
            && (region_value(Region::ClosedC) + 0.5).abs() < 1e-5
    );
}

#[test]
fn squares_are_assigned_to_regions() {
    let count = |region: Region, empty: u64| {
        (0..64).filter_map(Square::new).filter(|&s| Region::of(s, empty) == region).count()
    };
    let sizes: Vec<usize> = Region::ALL.iter().map(|&region| count(region, u64::MAX)).collect();
    assert_eq!(sizes, [4, 8, 0, 4, 0, 16, 16, 16]);
    // Only h1 is occupied: g1, h2 and g2 are no longer next to an empty corner.
    let sizes: Vec<usize> = Region::ALL.iter().map(|&region| count(region, !(1 << 7))).collect();
    assert_eq!(sizes, [4, 6, 2, 3, 1, 16, 16, 16]);
    assert_eq!(Region::of("g2".parse().unwrap(), !(1 << 7)), Region::ClosedX);
}

/// A model that values only corners prefers them; a model with zero weights has no preference.
#[test]
fn move_preferences_are_relative_to_random_moves() {
    let choices = sample_choices(60);
    let corners: Vec<f32> =
        (0..64).map(|s| f32::from(u8::from([0, 7, 56, 63].contains(&s)))).collect();
    let corner_only = outflank_models::from_piece_counter(&<[f32; 64]>::try_from(corners).unwrap());
    let found = model_move_preferences(&OnePlyPolicy(corner_only), &choices);
    for corner in [0, 7, 56, 63] {
        assert!(found[corner] > 50.0, "{corner}: {}", found[corner]);
    }
    let zero = NTupleNetwork::zero(Tuples::squares(), View::Invert);
    let found = model_move_preferences(&OnePlyPolicy(zero), &choices);
    assert!(found.iter().all(|x| x.is_nan() || x.abs() < 1e-9));
    // The four squares occupied from the start are never legal moves.
    assert!(
        [27, 28, 35, 36]
            .iter()
            .all(|&s: &usize| found[s].is_nan() && game_move_preferences(&choices)[s].is_nan())
    );
    assert!(
        game_move_preferences(&choices)[0] > 0.0,
        "corners are played more often than by random moves"
    );
}

/// The only nonzero entry of a network is the extreme entry of its tuple.
#[test]
fn extreme_entries_include_the_only_nonzero_weight() {
    let positions = afterstates(&sample_choices(40));
    let tuples = embedded::runarsson_lucas_tuples();
    let mut network = NTupleNetwork::zero(tuples.clone(), View::Invert);
    // The eighth tuple, d1 e1 f2 f3: an own disc, empty, an opponent's disc, empty.
    let offset = tuples.offsets().nth(7).unwrap();
    network.weights_mut()[offset + 2 * 27 + 9 + 1] = 3.0;
    let found = extreme_entries(&network, &positions, 0.0);
    let [max, min] = found[7].clone().unwrap();
    assert_eq!((max.tuple, max.own, max.other), (7, 1 << 3, 1 << 13));
    assert!(max.weight > 2.0 && max.weight <= 3.0 && min.weight <= 0.0);
    // Relative weights of a table have a frequency-weighted mean of zero, and each of the eight
    // placements of the tuple reads one entry.
    let fraction = max.frequency / 8.0;
    assert!((max.weight - 3.0 * (1.0 - fraction)).abs() < 1e-6);
    assert_eq!(extreme_entries(&network, &positions, 1e9), vec![None; 15]);
}
