//! Move-prediction accuracy on decisions with known results and against published values.

use outflank_arena::accuracy::{ACCURACY_STAGES, Accuracy, accuracy};
use outflank_games::Position;
use outflank_games::othello::{Othello, Square};
use outflank_models::{OnePlyPolicy, Policy, embedded, files};
use outflank_records::{Decision, DecisionFilter, Selection, decisions, read_games, transcript};
use std::path::PathBuf;

/// A policy whose score of a move is the index of its square, or 100 for the squares in `tied`.
struct SquareIndexPolicy {
    tied: u64,
}

impl Policy<Othello> for SquareIndexPolicy {
    fn score(&self, _: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        out.extend(
            moves.iter().map(
                |mv| {
                    if self.tied & mv.bit() != 0 { 100.0 } else { mv.index() as f32 }
                },
            ),
        );
    }
}

/// Returns the decision for a move in the start position.
fn first_move(text: &str) -> Decision<Othello> {
    Decision { position: Othello::start(), chosen: text.parse().unwrap() }
}

/// The start position has four moves, d3, c4, f5 and e6, with indices 19, 26, 37 and 44.
#[test]
fn top_k_ties_and_pairs_match_hand_computed_values() {
    let policy = SquareIndexPolicy { tied: 0 };
    let result = accuracy(&policy, &[first_move("e6"), first_move("f5"), first_move("d3")]);
    assert_eq!((result.choices.successes, result.choices.count), (1.0, 3));
    assert_eq!(result.all, result.choices);
    let top_k: Vec<f64> = result.top_k.iter().map(|hits| hits.successes).collect();
    assert_eq!(top_k, [1.0, 2.0, 2.0, 3.0, 3.0]);
    // e6 scores higher than three other moves, f5 than two, d3 than none.
    assert_eq!((result.pairs.successes, result.pairs.count), (5.0, 9));
    assert_eq!(result.stages[0].count, 3);
    assert_eq!(result.plies[0].count, 3);

    let tied = accuracy(&SquareIndexPolicy { tied: u64::MAX }, &[first_move("c4")]);
    assert_eq!(tied.choices.successes, 0.25);
    assert_eq!(tied.ties_as_hits.successes, 1.0);
    assert_eq!(tied.pairs.successes, 1.5);
    let top_k: Vec<f64> = tied.top_k.iter().map(|hits| hits.successes).collect();
    assert_eq!(top_k, [0.25, 0.5, 0.75, 1.0, 1.0]);

    let f5: Square = "f5".parse().unwrap();
    let d3: Square = "d3".parse().unwrap();
    let two_tied = accuracy(&SquareIndexPolicy { tied: f5.bit() | d3.bit() }, &[first_move("f5")]);
    assert_eq!(two_tied.choices.successes, 0.5);
}

#[test]
fn forced_moves_count_in_all_but_not_in_choices() {
    // The first legal move is played to the end of the game, which has passes and forced moves.
    let record = transcript::game(b"f5d6c3d3c4f4").unwrap();
    let mut position = *record.end();
    let mut decisions = Vec::new();
    while let Some(mv) = position.moves().next() {
        decisions.push(Decision { position, chosen: mv });
        position = position.play(mv);
    }
    let forced = decisions.iter().filter(|d| d.position.moves().count() == 1).count();
    let result = accuracy(&SquareIndexPolicy { tied: 0 }, &decisions);
    assert_eq!(result.all.count as usize, decisions.len());
    assert_eq!(result.choices.count as usize, decisions.len() - forced);
    assert!(forced > 0);
    let by_stage: u64 = result.stages.iter().map(|hits| hits.count).sum();
    let by_ply: u64 = result.plies.iter().map(|hits| hits.count).sum();
    assert_eq!((by_stage, by_ply), (result.choices.count, result.choices.count));
}

#[test]
fn stages_cover_all_disc_counts_without_gaps() {
    assert_eq!(ACCURACY_STAGES[0].0, 1);
    assert_eq!(ACCURACY_STAGES[12].1, 64);
    assert!(ACCURACY_STAGES.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
}

#[test]
fn nan_scores_count_as_ties() {
    struct NanPolicy;
    impl Policy<Othello> for NanPolicy {
        fn score(&self, _: &Othello, moves: &[Square], out: &mut Vec<f32>) {
            out.clear();
            out.resize(moves.len(), f32::NAN);
        }
    }
    let result = accuracy(&NanPolicy, &[first_move("f5")]);
    assert_eq!(result.choices.successes, 0.25);
}

#[test]
fn published_players_reach_their_published_accuracy() {
    let Some(data) = std::env::var_os("OUTFLANK_DATA").map(PathBuf::from) else {
        eprintln!("skipped: OUTFLANK_DATA is not set");
        return;
    };
    let selection = Selection { sample: Some(2000), ..Selection::default() };
    let games = read_games(&[data.join("wthor")], &selection, 1).unwrap();
    let choices = decisions(&games.records, &DecisionFilter::CHOICES);
    let accuracy_of = |name: &str| -> Accuracy {
        let (network, _) = files::load_network(&data.join("players").join(name)).unwrap();
        accuracy(&OnePlyPolicy(network), choices.items())
    };
    let ntuple = accuracy_of("RunnarsonLucas2014IPrefN.player");
    // Table II: 47.9% of all choices, 54.7% of those with up to 16 discs.
    assert!((ntuple.choices.percent() - 47.9).abs() < 1.0, "{}", ntuple.choices.percent());
    assert!((ntuple.stages[0].percent() - 54.7).abs() < 1.5, "{}", ntuple.stages[0].percent());
    // Counting a tie as a hit adds about 1.6 points, mostly at the four first moves.
    let gain = ntuple.ties_as_hits.percent() - ntuple.choices.percent();
    assert!((gain - 1.6).abs() < 0.3, "{gain}");
    let one_square_tuples = accuracy_of("RunnarsonLucas2014IPref1.player");
    assert!(one_square_tuples.choices.percent() < ntuple.choices.percent() - 10.0);
    let heuristic = accuracy(&OnePlyPolicy(embedded::heuristic()), choices.items());
    assert!(heuristic.choices.percent() < one_square_tuples.choices.percent());
}
