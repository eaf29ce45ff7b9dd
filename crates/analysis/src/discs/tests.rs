use super::*;
use outflank_games::Side;
use outflank_games::othello::Square;
use outflank_players::registry::{Model, find_model};
use outflank_players::{SearchControl, IterativeDeepening};
use std::collections::HashMap;

type Evaluator = Arc<dyn Evaluate<Othello>>;

/// The embedded models that say what a position is worth.
const NAMES: [&str; 6] = ["champion", "ipref", "ann", "heuristic", "yoshioka", "gp"];

fn named(name: &str) -> Evaluator {
    match find_model::<Othello>(&name.parse().unwrap()).unwrap() {
        Model::Value(value) => value,
        _ => panic!("{name} says nothing of positions"),
    }
}

/// Any function of a position and the side that moved.
struct Says<F>(F);

impl<F: Fn(&Othello, Side) -> f32 + Send + Sync> Evaluate<Othello> for Says<F> {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        (self.0)(position, side)
    }
}

fn says(value: impl Fn(&Othello, Side) -> f32 + Send + Sync + 'static) -> Evaluator {
    Arc::new(Says(value))
}

/// A position with so many empty squares.
fn with(empties: u32) -> Othello {
    let game = embedded::games_step_by(usize::MAX).swap_remove(0);
    game.steps().map(|(position, _)| position).find(|at| at.empties() == empties).unwrap()
}

/// Discs by the margins that the side had in the end, through zero: 1 where they are told right.
fn slope(told: &[(f64, f64)]) -> f64 {
    let products: f64 = told.iter().map(|(discs, margin)| discs * margin).sum();
    products / told.iter().map(|(discs, _)| discs * discs).sum::<f64>()
}

/// The slopes are those of the embedded games, within a tenth.
#[test]
fn slopes_are_measured() {
    let champion = models::champion().unwrap();
    let mut said: [Vec<(f64, f64)>; STAGES] = Default::default();
    for record in embedded::games_step_by(10) {
        let Some(margin) = record.end().score() else { continue };
        for (position, _) in record.steps().filter(|(at, _)| at.empties() < 50) {
            let moves: Vec<Square> = position.moves().collect();
            let mut values = Vec::new();
            champion.after_moves(&position, &moves, &mut values);
            let value = f64::from(values.iter().copied().fold(f32::MIN, f32::max));
            let margin = f64::from(position.to_move().sign() * margin);
            said[position.empties() as usize / 10].push((value, margin));
        }
    }
    let known = Discs::of(&named("champion"));
    assert_eq!(known.slopes, CHAMPION.map(|slope| Some(f64::from(slope))));
    assert_eq!(known.bonus, [0.0; EMPTIES]);
    let measured = Discs::measure(&*champion);
    for stage in 0..STAGES {
        let one = f64::from(CHAMPION[stage]);
        assert!((slope(&said[stage]) / one - 1.0).abs() < 0.1, "{stage}");
        // Measured as any other it is read nearly the same.
        let other = measured.slopes[stage].unwrap();
        assert!((other / one - 1.0).abs() < 0.1, "{stage}: {other}");
        for empties in (10 * stage).max(2)..10 * stage + 10 {
            assert!((other * measured.bonus[empties]).abs() < 5.0, "{:?}", measured.bonus);
        }
    }
}

/// In games that nothing was measured on, those who were said to stand better by so many discs won by as
/// many.
#[test]
fn discs_are_what_games_end_with() {
    let games = embedded::games_step_by(1);
    for name in NAMES {
        let model = named(name);
        let discs = Discs::of(&model);
        assert_eq!(discs.unscaled_stages(), None, "{name}");
        let mut told: [Vec<(f64, f64)>; STAGES] = Default::default();
        for (place, record) in
            games.iter().enumerate().filter(|(place, _)| place % (2 * STRIDE) == 1)
        {
            let Some(margin) = record.end().score() else { continue };
            for (position, ply) in record.steps().skip(11 + place % 3).step_by(3) {
                let (side, after) = (position.to_move(), position.play(ply.mv));
                let value = SearchScore::Estimate(model.value(&after, side));
                let value = discs.read(value, &position, 1).unwrap();
                told[position.empties() as usize / 10]
                    .push((f64::from(value), f64::from(side.sign() * margin)));
            }
        }
        for told in told {
            let found = slope(&told);
            assert!((found - 1.0).abs() < 0.15, "{name}: {found}");
            let mean = told.iter().map(|(discs, _)| discs).sum::<f64>() / told.len() as f64;
            assert!(mean.abs() < 2.5, "{name}: {mean}");
        }
    }
}

/// So it is with what a search finds, in which champion's bonus is none and that of others is whose who
/// moved last.
#[test]
fn a_search_is_read_in_discs() {
    let control = Arc::new(SearchControl::unlimited());
    for (name, within) in [("champion", 0.2), ("ipref", 0.4), ("ann", 0.3), ("gp", 0.3)] {
        let model = named(name);
        let discs = Discs::of(&model);
        for depth in [2, 3] {
            let mut search = IterativeDeepening::new(Arc::clone(&model), 14).with_max_depth(depth);
            let mut told = Vec::new();
            for (place, record) in embedded::games_step_by(27).iter().enumerate() {
                let Some(margin) = record.end().score() else { continue };
                let mut steps = record.steps().map(|(position, _)| position);
                let empties = 17 + place as u32 % 30;
                let Some(position) = steps.find(|at| at.empties() == empties) else { continue };
                let thought = search.run(&position, false, &control, |_| {}).unwrap();
                let verdict = thought.moves[0].verdict;
                if matches!(verdict, SearchScore::Estimate(_)) {
                    let value = discs.read(verdict, &position, thought.depth).unwrap();
                    let margin = position.to_move().sign() * margin;
                    told.push((f64::from(value), f64::from(margin)));
                }
            }
            let found = slope(&told);
            assert!(told.len() > 300 && (found - 1.0).abs() < within, "{name} {depth}: {found}");
            let mean = told.iter().map(|(discs, _)| discs).sum::<f64>() / told.len() as f64;
            assert!(mean.abs() < 6.0, "{name} {depth}: {mean}");
        }
    }
}

/// The units of a model are its own affair, and so is what it gives to whoever moved.
#[test]
fn other_units_are_the_same_discs() {
    for name in NAMES {
        let model = named(name);
        // Measured here, champion too.
        let discs = Discs::measure(&*model);
        for (times, bonus) in [(1000.0, 0.0), (0.0625, 0.0), (0.37, 0.0), (1.0, 40.0)] {
            let inner = Arc::clone(&model);
            let other = says(move |at, side| times * inner.value(at, side) + bonus);
            let other = Discs::of(&other);
            for (empties, depth) in [(59, 3), (44, 1), (33, 2), (30, 6), (17, 1), (8, 2)] {
                let position = with(empties);
                // The bonus is whose who moved last: to the other side it is a loss.
                let bonus = if depth % 2 == 1 { bonus } else { -bonus };
                let value = 0.5 * model.value(&position, position.to_move().other());
                let one = discs.read(SearchScore::Estimate(value), &position, depth).unwrap();
                let same = SearchScore::Estimate(times * value + bonus);
                let same = other.read(same, &position, depth).unwrap();
                assert!((one - same).abs() < 0.01, "{name} x {times} + {bonus}: {one} {same}");
            }
        }
    }
}

/// Whoever knows the end says it in discs already.
#[test]
fn discs_are_read_as_they_are() {
    let mut ends: HashMap<(u64, u64), i32> = HashMap::new();
    for record in embedded::games_step_by(1) {
        let Some(margin) = record.end().score() else { continue };
        for (position, ply) in record.steps().skip(10) {
            let after = position.play(ply.mv);
            ends.insert((after.discs(Side::Black), after.discs(Side::White)), margin);
        }
    }
    let seer = says(move |at, side| {
        let margin = ends.get(&(at.discs(Side::Black), at.discs(Side::White)));
        margin.map_or(0.0, |margin| (side.sign() * margin) as f32)
    });
    let discs = Discs::of(&seer);
    for (empties, depth) in [(49, 1), (40, 2), (33, 5), (20, 6), (9, 1)] {
        for value in [-20.0, 6.0] {
            let read = discs.read(SearchScore::Estimate(value), &with(empties), depth).unwrap();
            assert!((read - value).abs() < 0.2, "{empties}: {value} is read as {read}");
        }
    }
}

/// What does not grow with the margin has no meaning in discs.
#[test]
fn nonsense_has_no_discs() {
    let scrambled = |at: &Othello, _: Side| {
        let bits = at.discs(Side::Black) ^ at.discs(Side::White).rotate_left(17);
        (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32
    };
    let champion = named("champion");
    let nonsense = [
        says(|_, _| 3.0),
        says(|_, _| 0.1),
        says(|_, _| f32::NAN),
        says(move |at, side| -champion.value(at, side)),
        says(|at, _| if at.empties() % 10 == 4 { f32::INFINITY } else { at.empties() as f32 }),
        says(scrambled),
    ];
    for (place, model) in nonsense.iter().enumerate() {
        let discs = Discs::of(model);
        let stages = "0 to 9, 10 to 19, 20 to 29, 30 to 39, 40 and more";
        assert_eq!(discs.unscaled_stages().as_deref(), Some(stages), "{place}");
        assert_eq!(discs.read(SearchScore::Estimate(1.0), &with(30), 1), None);
        assert_eq!(discs.read(SearchScore::Estimate(0.0), &with(30), 2), None);
        assert_eq!(discs.read(SearchScore::Proven(4), &with(30), 1), Some(4.0));
    }
    // A stage alone may have none.
    let heuristic = named("heuristic");
    let half = says(move |at, side| match at.empties() {
        0..19 => heuristic.value(at, side),
        _ => 0.0,
    });
    let discs = Discs::of(&half);
    assert_eq!(discs.unscaled_stages().as_deref(), Some("20 to 29, 30 to 39, 40 and more"));
    assert!(discs.read(SearchScore::Estimate(1.0), &with(18), 6).is_some());
    assert_eq!(discs.read(SearchScore::Estimate(1.0), &with(28), 6), None);
}

#[test]
fn decided_games_count_as_they_are() {
    let start = Othello::start();
    let discs = Discs::of(&named("champion"));
    let read = |verdict| discs.read(verdict, &start, 1).unwrap();
    assert_eq!(read(SearchScore::Proven(-64)), -64.0);
    assert_eq!(read(SearchScore::Estimate(0.0)), 0.0);
    assert_eq!(read(SearchScore::Estimate(1e9)), MOST);
    assert_eq!(read(SearchScore::Estimate(-0.5)), -read(SearchScore::Estimate(0.5)));
    for name in NAMES {
        let discs = Discs::of(&named(name));
        assert_eq!(discs.read(SearchScore::Estimate(0.0), &start, 3), Some(0.0), "{name}");
        assert_eq!(discs.read(SearchScore::Estimate(f32::INFINITY), &start, 3), None, "{name}");
    }
}

/// Positions of as many embedded games, one of each, with 17 to 49 empty squares.
fn positions(games: usize) -> Vec<Othello> {
    let chosen = embedded::games_step_by(embedded::count() / games).into_iter().enumerate();
    let at = |(place, record): (usize, outflank_records::Record<Othello>)| {
        let empties = 17 + place as u32 % 33;
        record.steps().map(|(position, _)| position).find(|at| at.empties() == empties)
    };
    chosen.filter_map(at).collect()
}

/// The mean and its error.
fn mean(all: &[f64]) -> (f64, f64) {
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let squares: f64 = all.iter().map(|one| (one - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// What a search says goes up with one ply more and down with the next; what is told of it does not.
#[test]
fn a_ply_more_is_worth_nothing_by_itself() {
    let control = Arc::new(SearchControl::unlimited());
    for (name, depth) in [("champion", 6), ("ann", 4), ("gp", 4)] {
        let model = named(name);
        let discs = Discs::of(&model);
        let mut search = IterativeDeepening::new(model, 14).with_max_depth(depth);
        let (mut read, mut told) = (Vec::new(), Vec::new());
        for position in positions(400) {
            let mut values = Vec::new();
            search.run(&position, false, &control, |found| {
                let best = found.moves[0].verdict;
                let read = f64::from(discs.read(best, &position, found.depth).unwrap());
                values.push((read, discs.tell(best, found, &position).unwrap()));
            });
            if let [.., one, two, three] = values[..] {
                // Up and down, or down and up: without a zigzag the two steps are alike.
                read.push((two.0 - one.0) - (three.0 - two.0));
                told.push((two.1 - one.1) - (three.1 - two.1));
            }
        }
        let ((before, error), (after, rest)) = (mean(&read), mean(&told));
        assert!(before.abs() > 6.0 * error, "{name}: {before} +- {error}");
        assert!(after.abs() < 3.0 * rest && rest < error, "{name}: {after} +- {rest}");
    }
}

/// From one position of a game to the next the value stays where it was, as long as nobody errs.
#[test]
fn good_moves_leave_the_value_where_it_was() {
    let control = Arc::new(SearchControl::unlimited());
    for (name, depth, times) in [("champion", 5, 2.0), ("ann", 3, 2.5), ("ipref", 3, 2.0)] {
        let model = named(name);
        let discs = Discs::of(&model);
        let mut search = IterativeDeepening::new(model, 14).with_max_depth(depth);
        let (mut count, mut jumps) = (0, (0.0, 0.0));
        for record in embedded::games_step_by(2500) {
            let mut last: Option<(f64, f64)> = None;
            for (position, ply) in record.steps().take_while(|(at, _)| at.empties() > 16) {
                let found = search.run(&position, true, &control, |_| {}).unwrap();
                let (best, sign) = (found.moves[0].verdict, f64::from(position.to_move().sign()));
                let read = sign * f64::from(discs.read(best, &position, depth).unwrap());
                let told = |verdict| discs.tell(verdict, &found, &position).unwrap();
                let own = found.moves.iter().find(|judged| judged.mv == ply.mv).unwrap();
                let value = sign * told(best);
                if let Some(last) = last {
                    count += 1;
                    jumps.0 += (read - last.0).abs();
                    jumps.1 += (value - last.1).abs();
                }
                last = (told(best) - told(own.score) <= 1.0).then_some((read, value));
            }
        }
        assert!(count > 40 && jumps.0 > times * jumps.1, "{name}: {count}, {jumps:?}");
    }
}

/// Evening out the depths changes no difference of two moves, no order, and nothing that is decided.
#[test]
fn evening_out_leaves_what_is_decided_and_what_moves_lose() {
    let control = Arc::new(SearchControl::unlimited());
    let discs = Discs::of(&named("champion"));
    let mut search = IterativeDeepening::new(named("champion"), 14).with_max_depth(5);
    let (mut decided, mut steps) = (0, 0);
    for (place, record) in embedded::games_step_by(100).iter().enumerate() {
        let empties = [5, 6, 8, 20, 40][place % 5];
        let mut games = record.steps().map(|(position, _)| position);
        let Some(position) = games.find(|at| at.empties() == empties) else { continue };
        search.run(&position, true, &control, |found| {
            let told = |verdict| discs.tell(verdict, found, &position).unwrap();
            let read = |verdict| f64::from(discs.read(verdict, &position, found.depth).unwrap());
            let mut step = None;
            for judged in &found.moves {
                match judged.score {
                    SearchScore::Proven(margin) => {
                        decided += 1;
                        assert_eq!(told(judged.score), f64::from(margin));
                    }
                    SearchScore::Estimate(_) if told(judged.score).abs() < 40.0 => {
                        let own = told(judged.score) - read(judged.score);
                        assert!((step.unwrap_or(own) - own).abs() < 1e-9, "{position} {judged:?}");
                        steps += usize::from(own.abs() > 0.1);
                        step = Some(own);
                    }
                    SearchScore::Estimate(_) => {}
                }
            }
        });
    }
    assert!(decided > 40 && steps > 1000, "{decided} {steps}");
}
