use super::*;
use outflank_games::Side;
use outflank_games::othello::Square;
use outflank_players::registry::{PlayerModel, find_model};
use outflank_players::{IterativeDeepening, SearchControl};
use std::collections::HashMap;

type SharedModel = Arc<dyn Evaluate<Othello>>;

/// The embedded models that evaluate positions.
const MODELS: [&str; 6] = ["champion", "ipref", "ann", "heuristic", "yoshioka", "gp"];

fn embedded_model(name: &str) -> SharedModel {
    match find_model::<Othello>(&name.parse().unwrap()).unwrap() {
        PlayerModel::Value(value) => value,
        _ => panic!("{name} does not evaluate positions"),
    }
}

/// A model given by a function of a position and the side that moved.
struct FnModel<F>(F);

impl<F: Fn(&Othello, Side) -> f32 + Send + Sync> Evaluate<Othello> for FnModel<F> {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        (self.0)(position, side)
    }
}

fn fn_model(value: impl Fn(&Othello, Side) -> f32 + Send + Sync + 'static) -> SharedModel {
    Arc::new(FnModel(value))
}

/// Returns a position with this many empty squares.
fn position_with_empties(empties: u32) -> Othello {
    let game = embedded::games_step_by(usize::MAX).swap_remove(0);
    game.steps().map(|(position, _)| position).find(|at| at.empties() == empties).unwrap()
}

/// Returns the slope of a regression of final margins on converted values, through zero. It is 1 if
/// the conversion is unbiased.
fn regression_slope(pairs: &[(f64, f64)]) -> f64 {
    let products: f64 = pairs.iter().map(|(discs, margin)| discs * margin).sum();
    products / pairs.iter().map(|(discs, _)| discs * discs).sum::<f64>()
}

/// The stored slopes are those of the embedded games, within 10%.
#[test]
fn stored_slopes_of_champion_match_a_fit() {
    let champion = models::champion().unwrap();
    let mut pairs: [Vec<(f64, f64)>; SCALE_STAGES] = Default::default();
    for record in embedded::games_step_by(10) {
        let Some(margin) = record.end().tournament_score() else { continue };
        for (position, _) in record.steps().filter(|(at, _)| at.empties() < 50) {
            let moves: Vec<Square> = position.moves().collect();
            let mut values = Vec::new();
            champion.move_values(&position, &moves, &mut values);
            let value = f64::from(values.iter().copied().fold(f32::MIN, f32::max));
            let margin = f64::from(position.to_move().sign() * margin);
            pairs[position.empties() as usize / 10].push((value, margin));
        }
    }
    let stored = DiscScale::for_model(&embedded_model("champion"));
    assert_eq!(stored.slopes, CHAMPION_SLOPES.map(|slope| Some(f64::from(slope))));
    assert_eq!(stored.bias, [0.0; EMPTIES_COUNT]);
    let fitted = DiscScale::fit(&*champion);
    for stage in 0..SCALE_STAGES {
        let stored_slope = f64::from(CHAMPION_SLOPES[stage]);
        assert!((regression_slope(&pairs[stage]) / stored_slope - 1.0).abs() < 0.1, "{stage}");
        // A fit, as for any other model, yields nearly the same conversion.
        let fitted_slope = fitted.slopes[stage].unwrap();
        assert!((fitted_slope / stored_slope - 1.0).abs() < 0.1, "{stage}: {fitted_slope}");
        for empties in (10 * stage).max(2)..10 * stage + 10 {
            assert!((fitted_slope * fitted.bias[empties]).abs() < 5.0, "{:?}", fitted.bias);
        }
    }
}

/// On games that are not in the fit, converted values predict the final margin.
#[test]
fn converted_values_predict_final_margins() {
    let games = embedded::games_step_by(1);
    for name in MODELS {
        let model = embedded_model(name);
        let scale = DiscScale::for_model(&model);
        assert_eq!(scale.unscaled_stages(), None, "{name}");
        let mut pairs: [Vec<(f64, f64)>; SCALE_STAGES] = Default::default();
        for (index, record) in
            games.iter().enumerate().filter(|(index, _)| index % (2 * GAME_STRIDE) == 1)
        {
            let Some(margin) = record.end().tournament_score() else { continue };
            for (position, ply) in record.steps().skip(11 + index % 3).step_by(3) {
                let (side, after) = (position.to_move(), position.play(ply.mv));
                let value = SearchScore::Estimate(model.value(&after, side));
                let value = scale.to_discs(value, &position, 1).unwrap();
                pairs[position.empties() as usize / 10]
                    .push((f64::from(value), f64::from(side.sign() * margin)));
            }
        }
        for pairs in pairs {
            let found = regression_slope(&pairs);
            assert!((found - 1.0).abs() < 0.15, "{name}: {found}");
            let mean = pairs.iter().map(|(discs, _)| discs).sum::<f64>() / pairs.len() as f64;
            assert!(mean.abs() < 2.5, "{name}: {mean}");
        }
    }
}

/// Converted values of a search predict the final margin too.
#[test]
fn searched_values_predict_final_margins() {
    let control = Arc::new(SearchControl::unlimited());
    for (name, tolerance) in [("champion", 0.2), ("ipref", 0.4), ("ann", 0.3), ("gp", 0.3)] {
        let model = embedded_model(name);
        let scale = DiscScale::for_model(&model);
        for depth in [2, 3] {
            let mut search = IterativeDeepening::new(Arc::clone(&model), 14).with_max_depth(depth);
            let mut pairs = Vec::new();
            for (index, record) in embedded::games_step_by(27).iter().enumerate() {
                let Some(margin) = record.end().tournament_score() else { continue };
                let mut steps = record.steps().map(|(position, _)| position);
                let empties = 17 + index as u32 % 30;
                let Some(position) = steps.find(|at| at.empties() == empties) else { continue };
                let found = search.run(&position, false, &control, |_| {}).unwrap();
                let score = found.moves[0].score;
                if matches!(score, SearchScore::Estimate(_)) {
                    let value = scale.to_discs(score, &position, found.depth).unwrap();
                    let margin = position.to_move().sign() * margin;
                    pairs.push((f64::from(value), f64::from(margin)));
                }
            }
            let found = regression_slope(&pairs);
            assert!(
                pairs.len() > 300 && (found - 1.0).abs() < tolerance,
                "{name} {depth}: {found}"
            );
            let mean = pairs.iter().map(|(discs, _)| discs).sum::<f64>() / pairs.len() as f64;
            assert!(mean.abs() < 6.0, "{name} {depth}: {mean}");
        }
    }
}

/// Neither the unit of a model nor its bias changes the converted values.
#[test]
fn conversion_does_not_depend_on_unit_and_bias_of_a_model() {
    for name in MODELS {
        let model = embedded_model(name);
        // `fit`, because `for_model` returns the stored scale of champion.
        let scale = DiscScale::fit(&*model);
        for (factor, bias) in [(1000.0, 0.0), (0.0625, 0.0), (0.37, 0.0), (1.0, 40.0)] {
            let inner = Arc::clone(&model);
            let changed = fn_model(move |at, side| factor * inner.value(at, side) + bias);
            let changed_scale = DiscScale::for_model(&changed);
            for (empties, depth) in [(59, 3), (44, 1), (33, 2), (30, 6), (17, 1), (8, 2)] {
                let position = position_with_empties(empties);
                // The bias favors the side that moved last.
                let bias = if depth % 2 == 1 { bias } else { -bias };
                let value = 0.5 * model.value(&position, position.to_move().other());
                let discs = scale.to_discs(SearchScore::Estimate(value), &position, depth).unwrap();
                let changed_score = SearchScore::Estimate(factor * value + bias);
                let changed_discs =
                    changed_scale.to_discs(changed_score, &position, depth).unwrap();
                assert!(
                    (discs - changed_discs).abs() < 0.01,
                    "{name} x {factor} + {bias}: {discs} {changed_discs}"
                );
            }
        }
    }
}

/// A model that returns the final margin has the identity conversion.
#[test]
fn values_in_discs_are_unchanged() {
    let mut final_margins: HashMap<(u64, u64), i32> = HashMap::new();
    for record in embedded::games_step_by(1) {
        let Some(margin) = record.end().tournament_score() else { continue };
        for (position, ply) in record.steps().skip(10) {
            let after = position.play(ply.mv);
            final_margins.insert((after.discs(Side::Black), after.discs(Side::White)), margin);
        }
    }
    let oracle = fn_model(move |at, side| {
        let margin = final_margins.get(&(at.discs(Side::Black), at.discs(Side::White)));
        margin.map_or(0.0, |margin| (side.sign() * margin) as f32)
    });
    let scale = DiscScale::for_model(&oracle);
    for (empties, depth) in [(49, 1), (40, 2), (33, 5), (20, 6), (9, 1)] {
        for value in [-20.0, 6.0] {
            let converted = scale
                .to_discs(SearchScore::Estimate(value), &position_with_empties(empties), depth)
                .unwrap();
            assert!(
                (converted - value).abs() < 0.2,
                "{empties}: {value} is converted to {converted}"
            );
        }
    }
}

/// Values that do not grow with the margin have no conversion.
#[test]
fn values_unrelated_to_the_margin_are_not_converted() {
    let hash = |at: &Othello, _: Side| {
        let bits = at.discs(Side::Black) ^ at.discs(Side::White).rotate_left(17);
        (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32
    };
    let champion = embedded_model("champion");
    let unrelated = [
        fn_model(|_, _| 3.0),
        fn_model(|_, _| 0.1),
        fn_model(|_, _| f32::NAN),
        fn_model(move |at, side| -champion.value(at, side)),
        fn_model(|at, _| if at.empties() % 10 == 4 { f32::INFINITY } else { at.empties() as f32 }),
        fn_model(hash),
    ];
    for (index, model) in unrelated.iter().enumerate() {
        let scale = DiscScale::for_model(model);
        let stages = "0 to 9, 10 to 19, 20 to 29, 30 to 39, 40 and more";
        assert_eq!(scale.unscaled_stages().as_deref(), Some(stages), "{index}");
        assert_eq!(scale.to_discs(SearchScore::Estimate(1.0), &position_with_empties(30), 1), None);
        assert_eq!(scale.to_discs(SearchScore::Estimate(0.0), &position_with_empties(30), 2), None);
        assert_eq!(
            scale.to_discs(SearchScore::Proven(4), &position_with_empties(30), 1),
            Some(4.0)
        );
    }
    // A model may have a conversion in some stages only.
    let heuristic = embedded_model("heuristic");
    let late_game_model = fn_model(move |at, side| match at.empties() {
        0..19 => heuristic.value(at, side),
        _ => 0.0,
    });
    let scale = DiscScale::for_model(&late_game_model);
    assert_eq!(scale.unscaled_stages().as_deref(), Some("20 to 29, 30 to 39, 40 and more"));
    assert!(scale.to_discs(SearchScore::Estimate(1.0), &position_with_empties(18), 6).is_some());
    assert_eq!(scale.to_discs(SearchScore::Estimate(1.0), &position_with_empties(28), 6), None);
}

#[test]
fn proven_values_are_exact_and_estimates_are_bounded() {
    let start = Othello::start();
    let scale = DiscScale::for_model(&embedded_model("champion"));
    let discs = |score| scale.to_discs(score, &start, 1).unwrap();
    assert_eq!(discs(SearchScore::Proven(-64)), -64.0);
    assert_eq!(discs(SearchScore::Estimate(0.0)), 0.0);
    assert_eq!(discs(SearchScore::Estimate(1e9)), MAX_ESTIMATE);
    assert_eq!(discs(SearchScore::Estimate(-0.5)), -discs(SearchScore::Estimate(0.5)));
    for name in MODELS {
        let scale = DiscScale::for_model(&embedded_model(name));
        assert_eq!(scale.to_discs(SearchScore::Estimate(0.0), &start, 3), Some(0.0), "{name}");
        assert_eq!(scale.to_discs(SearchScore::Estimate(f32::INFINITY), &start, 3), None, "{name}");
    }
}

/// Returns one position of each of this many embedded games, with 17 to 49 empty squares.
fn sample_positions(games: usize) -> Vec<Othello> {
    let chosen = embedded::games_step_by(embedded::count() / games).into_iter().enumerate();
    let at = |(index, record): (usize, outflank_records::Record<Othello>)| {
        let empties = 17 + index as u32 % 33;
        record.steps().map(|(position, _)| position).find(|at| at.empties() == empties)
    };
    chosen.filter_map(at).collect()
}

/// Returns the mean and its standard error.
fn mean_and_error(all: &[f64]) -> (f64, f64) {
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let squares: f64 = all.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// Values alternate with the depth of the search; averaged values do not.
#[test]
fn averaging_removes_the_odd_even_effect() {
    let control = Arc::new(SearchControl::unlimited());
    for (name, depth) in [("champion", 6), ("ann", 4), ("gp", 4)] {
        let model = embedded_model(name);
        let scale = DiscScale::for_model(&model);
        let mut search = IterativeDeepening::new(model, 14).with_max_depth(depth);
        let (mut raw, mut averaged) = (Vec::new(), Vec::new());
        for position in sample_positions(400) {
            let mut values = Vec::new();
            search.run(&position, false, &control, |found| {
                let best = found.moves[0].score;
                let raw = f64::from(scale.to_discs(best, &position, found.depth).unwrap());
                values.push((raw, scale.to_discs_averaged(best, found, &position).unwrap()));
            });
            if let [.., one, two, three] = values[..] {
                // The second difference, which is zero on average without alternation.
                raw.push((two.0 - one.0) - (three.0 - two.0));
                averaged.push((two.1 - one.1) - (three.1 - two.1));
            }
        }
        let ((raw_mean, raw_error), (averaged_mean, averaged_error)) =
            (mean_and_error(&raw), mean_and_error(&averaged));
        assert!(raw_mean.abs() > 6.0 * raw_error, "{name}: {raw_mean} +- {raw_error}");
        assert!(
            averaged_mean.abs() < 3.0 * averaged_error && averaged_error < raw_error,
            "{name}: {averaged_mean} +- {averaged_error}"
        );
    }
}

/// After moves that lose at most one disc, averaged values change less than raw values.
#[test]
fn averaged_values_change_less_after_good_moves() {
    let control = Arc::new(SearchControl::unlimited());
    for (name, depth, min_ratio) in [("champion", 5, 2.0), ("ann", 3, 2.5), ("ipref", 3, 2.0)] {
        let model = embedded_model(name);
        let scale = DiscScale::for_model(&model);
        let mut search = IterativeDeepening::new(model, 14).with_max_depth(depth);
        let (mut count, mut raw_changes, mut averaged_changes) = (0, 0.0, 0.0);
        for record in embedded::games_step_by(2500) {
            let mut last: Option<(f64, f64)> = None;
            for (position, ply) in record.steps().take_while(|(at, _)| at.empties() > 16) {
                let found = search.run(&position, true, &control, |_| {}).unwrap();
                let (best, sign) = (found.moves[0].score, f64::from(position.to_move().sign()));
                let raw = sign * f64::from(scale.to_discs(best, &position, depth).unwrap());
                let averaged = |score| scale.to_discs_averaged(score, &found, &position).unwrap();
                let own = found.moves.iter().find(|scored| scored.mv == ply.mv).unwrap();
                let value = sign * averaged(best);
                if let Some(last) = last {
                    count += 1;
                    raw_changes += (raw - last.0).abs();
                    averaged_changes += (value - last.1).abs();
                }
                last = (averaged(best) - averaged(own.score) <= 1.0).then_some((raw, value));
            }
        }
        assert!(
            count > 40 && raw_changes > min_ratio * averaged_changes,
            "{name}: {count}, {raw_changes}, {averaged_changes}"
        );
    }
}

/// Averaging shifts all estimates of a position by the same amount and leaves proven values
/// unchanged.
#[test]
fn averaging_keeps_differences_and_proven_values() {
    let control = Arc::new(SearchControl::unlimited());
    let scale = DiscScale::for_model(&embedded_model("champion"));
    let mut search = IterativeDeepening::new(embedded_model("champion"), 14).with_max_depth(5);
    let (mut proven, mut corrected) = (0, 0);
    for (index, record) in embedded::games_step_by(100).iter().enumerate() {
        let empties = [5, 6, 8, 20, 40][index % 5];
        let mut positions = record.steps().map(|(position, _)| position);
        let Some(position) = positions.find(|at| at.empties() == empties) else { continue };
        search.run(&position, true, &control, |found| {
            let averaged = |score| scale.to_discs_averaged(score, found, &position).unwrap();
            let raw = |score| f64::from(scale.to_discs(score, &position, found.depth).unwrap());
            let mut correction = None;
            for scored in &found.moves {
                match scored.score {
                    SearchScore::Proven(margin) => {
                        proven += 1;
                        assert_eq!(averaged(scored.score), f64::from(margin));
                    }
                    SearchScore::Estimate(_) if averaged(scored.score).abs() < 40.0 => {
                        let own = averaged(scored.score) - raw(scored.score);
                        assert!(
                            (correction.unwrap_or(own) - own).abs() < 1e-9,
                            "{position} {scored:?}"
                        );
                        corrected += usize::from(own.abs() > 0.1);
                        correction = Some(own);
                    }
                    SearchScore::Estimate(_) => {}
                }
            }
        });
    }
    assert!(proven > 40 && corrected > 1000, "{proven} {corrected}");
}
