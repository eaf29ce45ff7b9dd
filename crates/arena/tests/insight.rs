//! What a model has learned, against models whose insides are known.

use outflank_arena::model_inspection::{Region, chosen, extremes, preferred, sample, sights, worth};
use outflank_games::othello::Square;
use outflank_models::{Greedy, NTupleNetwork, Tuples, View, embedded};
use outflank_records::{DecisionFilter, decisions};

fn choices(games: usize) -> Vec<outflank_records::Decision<outflank_games::othello::Othello>> {
    let games = &outflank_records::embedded::games()[..games];
    sample(decisions(games, &DecisionFilter::CHOICES).items(), 500)
}

/// A piece counter adds the weight of an own disc and takes away that of the opponent's, so an own
/// disc instead of the opponent's is worth twice its weight, to either colour.
#[test]
fn a_disc_of_a_piece_counter_is_worth_twice_its_weight() {
    let boards = sights(&choices(40));
    let found = worth(&embedded::heuristic(), &boards);
    for (square, weight) in embedded::HEURISTIC.iter().enumerate() {
        let found = found.squares[square];
        assert!(found.is_nan() || (found - 2.0 * f64::from(*weight)).abs() < 1e-5, "{square}");
    }
    let of = |region: Region| found.regions[region as usize];
    assert!((of(Region::Corner) - 2.0).abs() < 1e-5);
    assert!((of(Region::OpenX) + 0.5).abs() < 1e-5 && (of(Region::ClosedX) + 0.5).abs() < 1e-5);
    assert!((of(Region::OpenC) + 0.5).abs() < 1e-5 && (of(Region::ClosedC) + 0.5).abs() < 1e-5);
}

#[test]
fn every_square_has_its_region() {
    let count = |region: Region, empty: u64| {
        (0..64).filter_map(Square::new).filter(|&s| Region::of(s, empty) == region).count()
    };
    let sizes: Vec<usize> = Region::ALL.iter().map(|&region| count(region, u64::MAX)).collect();
    assert_eq!(sizes, [4, 8, 0, 4, 0, 16, 16, 16]);
    // Only h1 is taken: its neighbours g1, h2 and g2 are no longer beside an empty corner.
    let sizes: Vec<usize> = Region::ALL.iter().map(|&region| count(region, !(1 << 7))).collect();
    assert_eq!(sizes, [4, 6, 2, 3, 1, 16, 16, 16]);
    assert_eq!(Region::of("g2".parse().unwrap(), !(1 << 7)), Region::ClosedX);
}

/// Over the moves of a choice, what is above chance and what is below cancel out; a player that
/// knows only corners takes every corner, and one that knows nothing takes each move as often.
#[test]
fn moves_are_counted_against_chance() {
    let choices = choices(60);
    let corners: Vec<f32> =
        (0..64).map(|s| f32::from(u8::from([0, 7, 56, 63].contains(&s)))).collect();
    let eager = outflank_models::from_piece_counter(&<[f32; 64]>::try_from(corners).unwrap());
    let found = preferred(&Greedy(eager), &choices);
    for corner in [0, 7, 56, 63] {
        assert!(found[corner] > 50.0, "{corner}: {}", found[corner]);
    }
    let nothing = NTupleNetwork::zero(Tuples::squares(), View::Invert);
    let found = preferred(&Greedy(nothing), &choices);
    assert!(found.iter().all(|x| x.is_nan() || x.abs() < 1e-9));
    // Nobody can move to the four squares that are taken from the start.
    assert!(
        [27, 28, 35, 36].iter().all(|&s: &usize| found[s].is_nan() && chosen(&choices)[s].is_nan())
    );
    assert!(chosen(&choices)[0] > 0.0, "a corner is taken more often than by chance");
}

/// In a network that knows one entry of one table, that entry is the extreme.
#[test]
fn the_heaviest_pattern_is_found_and_drawn() {
    let boards = sights(&choices(40));
    let tuples = embedded::runarsson_lucas_tuples();
    let mut network = NTupleNetwork::zero(tuples.clone(), View::Invert);
    // The eighth tuple: d1 e1 f2 f3; own, empty, opponent's, empty.
    let offset = tuples.offsets().nth(7).unwrap();
    network.weights_mut()[offset + 2 * 27 + 9 + 1] = 3.0;
    let found = extremes(&network, &boards, 0.0);
    let [most, least] = found[7].clone().unwrap();
    assert_eq!((most.tuple, most.own, most.other), (7, 1 << 3, 1 << 13));
    assert!(most.weight > 2.0 && most.weight <= 3.0 && least.weight <= 0.0);
    // What all entries of a table add, weighed by how often they occur, is nothing on average.
    let share = most.often / 8.0;
    assert!((most.weight - 3.0 * (1.0 - share)).abs() < 1e-6);
    assert_eq!(extremes(&network, &boards, 1e9), vec![None; 15]);
}
