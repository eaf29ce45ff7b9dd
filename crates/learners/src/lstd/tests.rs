//! Compares LSTD with direct computations and checks its invariants.

use super::*;
use outflank_games::Side;
use outflank_records::{GameInfo, Ply};
use outflank_runs::{RngExt, rng};

const CONFIG: LstdConfig = LstdConfig { lambda: 0.9, ridge: 1e-6 };

fn random_games(count: u64, plies: usize) -> Vec<Record<Othello>> {
    let play = |number: u64| {
        let mut rng = rng::stream(number, &["lstd", "games"]);
        let mut record = Record::new(Othello::start(), GameInfo::default());
        while !record.end().is_over() && record.plies().len() < plies {
            let moves: Vec<_> = record.end().moves().collect();
            record.push(Ply::new(*rng.pick(&moves).unwrap())).unwrap();
        }
        record
    };
    (0..count).map(play).collect()
}

/// A constant and the number of discs of each color, visited disc by disc.
struct Discs;

impl Features<Othello> for Discs {
    fn feature_count(&self) -> usize {
        4
    }

    fn visit(&self, position: &Othello, side: Side, mut f: impl FnMut(usize, f32)) {
        f(3, 1.0);
        for (feature, side) in [(2, side), (0, side.other())] {
            (0..position.discs(side).count_ones()).for_each(|_| f(feature, 1.0));
        }
    }
}

/// Solves a small system by Gauss-Jordan elimination.
fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs()));
        rows.swap(i, pivot.unwrap());
        let own = rows[i].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|&(j, _)| j != i) {
            let times = row[i] / own[i];
            row.iter_mut().zip(&own).for_each(|(x, own)| *x -= times * own);
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

#[test]
fn lambda_1_is_linear_regression() {
    let games = random_games(60, 60);
    let mut normal = vec![vec![0.0; 4]; 3];
    for game in &games {
        let reward = f64::from(game.end().result().unwrap().signum());
        for (position, ply) in game.steps() {
            let after = position.play(ply.mv);
            let discs = |side| f64::from(after.discs(side).count_ones());
            let x = [discs(Side::White), discs(Side::Black), 1.0, reward];
            for (row, own) in normal.iter_mut().zip(x) {
                row.iter_mut().zip(x).for_each(|(sum, x)| *sum += own * x);
            }
        }
    }
    let expected = eliminate(normal);
    let config = LstdConfig { lambda: 1.0, ridge: 1e-13 };
    let fit = fit(&Discs, &games, config, |_| true).unwrap();
    assert_eq!((fit.active, fit.games, fit.skipped), (3, 60, 0));
    assert!(fit.residual < 1e-14);
    assert_eq!(fit.weights[1], 0.0);
    for (feature, expected) in [0, 2, 3].into_iter().zip(expected) {
        assert!((fit.weights[feature] - expected).abs() < 1e-7, "{:?}", fit.weights);
    }
}

/// At the solution the trace-weighted differences sum to zero: a direct evaluation of the formula
/// on real games with passes.
#[test]
fn weighted_differences_sum_to_zero() {
    let (tuples, games) = (Tuples::squares(), random_games(40, 60));
    let fit = fit(&tuples, &games, CONFIG, |_| true).unwrap();
    let features = |position: &Othello| {
        let mut phi = vec![0.0; 192];
        tuples.visit(position, Side::Black, |i, value| phi[i] += f64::from(value));
        phi
    };
    let value = |phi: &[f64]| phi.iter().zip(&fit.weights).map(|(p, w)| p * w).sum::<f64>();
    let (mut sums, mut most, mut passes) = (vec![0.0; 192], 0.0f64, 0);
    let mut add = |z: &[f64], difference: f64| {
        most = most.max(difference.abs());
        sums.iter_mut().zip(z).for_each(|(sum, z)| *sum += z * difference);
    };
    for game in &games {
        let mut players = [(); 2].map(|()| (vec![0.0; 192], vec![0.0; 192]));
        let mut mover = None;
        for (position, ply) in game.steps() {
            passes += u32::from(mover == Some(position.to_move()));
            mover = Some(position.to_move());
            let (z, phi) = &mut players[position.to_move().index()];
            let new = features(&position.play(ply.mv));
            add(z, value(&new) - value(phi));
            z.iter_mut().zip(&new).for_each(|(z, new)| *z = CONFIG.lambda * *z + new);
            *phi = new;
        }
        let reward = f64::from(game.end().result().unwrap().signum());
        players.iter().for_each(|(z, phi)| add(z, reward - value(phi)));
    }
    assert!(passes > 10 && most > 0.5);
    // The ridge accounts for the remainder.
    let left = sums.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    assert!(left < 1e-3, "{left}");
}

/// Swapping the colors negates the weights.
#[test]
fn swapping_colors_negates_the_weights() {
    let games = random_games(30, 60);
    let swap = |game: &Record<Othello>| {
        let mut swapped = Record::new(game.start().swap_sides(), GameInfo::default());
        game.plies().iter().for_each(|ply| swapped.push(*ply).unwrap());
        swapped
    };
    let swapped: Vec<_> = games.iter().map(swap).collect();
    let one = fit(&Tuples::squares(), &games, CONFIG, |_| true).unwrap();
    let other = fit(&Tuples::squares(), &swapped, CONFIG, |_| true).unwrap();
    assert_eq!(one.active, other.active);
    for (square, cell) in (0..64).flat_map(|square| (0..3).map(move |cell| (square, cell))) {
        let (a, b) = (one.weights[3 * square + cell], other.weights[3 * square + 2 - cell]);
        assert!((a + b).abs() < 1e-8, "{a} {b}");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let games = random_games(40, 60);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let tuples = Tuples::symmetric(&[[0, 1, 2, 8, 9], [18, 19, 26, 27, 34]]).unwrap();
        pool.install(|| train(tuples, &games, CONFIG, |_| true).unwrap())
    };
    let one = with(1);
    assert!(one.fit.active > 200 && one.fit.ridge == CONFIG.ridge);
    assert_eq!(one.network.view(), View::Negate);
    assert_eq!(one.network, with(2).network);
    assert_eq!(one.network, with(5).network);
}

#[test]
fn one_game_and_copies_of_it_can_be_fitted() {
    let game = random_games(30, 60).into_iter().find(|g| g.end().result() != Some(0)).unwrap();
    let reward = game.end().result().unwrap().signum() as f32;
    for times in [1, 20] {
        let games = vec![game.clone(); times];
        let outcome = train(Tuples::squares(), &games, CONFIG, |_| true).unwrap();
        let last = outflank_models::Evaluate::value(&outcome.network, game.end(), Side::Black);
        assert!((last - reward).abs() < 0.01, "{last}");
    }
}

#[test]
fn unfinished_games_count_with_their_recorded_result() {
    let mut games = random_games(3, 30);
    let train = |games: &[Record<Othello>]| {
        fit(&Discs, games, CONFIG, |_| true).map(|fit| (fit.games, fit.skipped))
    };
    assert_eq!(train(&games), Err(LstdError::NoOutcome(3)));
    games[1].info.result = Some(0);
    assert_eq!(train(&games), Err(LstdError::AllDrawn(1)));
    games[2].info.result = Some(-12);
    assert_eq!(train(&games), Ok((2, 1)));
    let info = GameInfo { result: Some(64), ..GameInfo::default() };
    games.push(Record::new(Othello::start(), info));
    assert_eq!(train(&games), Ok((2, 2)));
    assert_eq!(train(&[]), Err(LstdError::NoOutcome(0)));
}

#[test]
fn invalid_parameters_are_rejected() {
    let games = random_games(2, 60);
    for lambda in [-0.1, 1.0001, f64::NAN, f64::INFINITY] {
        let error = fit(&Discs, &games, LstdConfig { lambda, ..CONFIG }, |_| true).unwrap_err();
        assert!(matches!(error, LstdError::Lambda(_)), "{error}");
    }
    for ridge in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = fit(&Discs, &games, LstdConfig { ridge, ..CONFIG }, |_| true).unwrap_err();
        assert!(matches!(error, LstdError::Ridge(_)), "{error}");
    }
}

#[test]
fn the_callback_counts_games_and_can_stop() {
    let games = random_games(50, 60);
    let mut counts = Vec::new();
    fit(&Discs, &games, CONFIG, |done| {
        counts.push(done);
        true
    })
    .unwrap();
    assert!(counts.is_sorted() && counts.len() > 2 && counts.last() == Some(&50));
    let stopped = fit(&Discs, &games, CONFIG, |done| done < 20).unwrap_err();
    assert!(matches!(stopped, LstdError::Stopped(20..50)), "{stopped}");
}

#[test]
fn too_many_features_are_rejected_before_allocation() {
    struct Many;
    impl Features<Othello> for Many {
        fn feature_count(&self) -> usize {
            MAX_ACTIVE_FEATURES + 9
        }

        fn visit(&self, _: &Othello, _: Side, mut f: impl FnMut(usize, f32)) {
            (0..=MAX_ACTIVE_FEATURES).for_each(|feature| f(feature, 1.0));
        }
    }
    let error = fit(&Many, &random_games(2, 60), CONFIG, |_| true).unwrap_err();
    assert_eq!(error, LstdError::TooManyFeatures { active: MAX_ACTIVE_FEATURES + 1 });
}
