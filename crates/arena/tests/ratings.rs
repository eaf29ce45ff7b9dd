//! Ratings against published tables, another optimizer, and simulated leagues.

use outflank_arena::ratings::{
    EloParameter, Estimate, PairResult, RatingConfig, RatingError, Ratings, fit, fit_totals,
};
use outflank_arena::score::expected_score;
use outflank_runs::{Rng, RngExt, rng};

/// Fits the draw parameter and the advantage of moving first.
const FITTED: RatingConfig = RatingConfig {
    draw_elo: EloParameter::Fitted,
    advantage: EloParameter::Fitted,
    prior: 0.0,
    mean: 1600.0,
};

/// Asserts that ratings differ from published ones by at most `tolerance`.
fn assert_near(ratings: &Ratings, published: &[f64], tolerance: f64) {
    assert_eq!(ratings.ratings.len(), published.len());
    for (ours, theirs) in ratings.ratings.iter().zip(published) {
        let difference = ours.value - theirs;
        assert!(difference.abs() <= tolerance, "{:.2} is not {theirs}", ours.value);
    }
}

/// The results of a published cross table of points, row against column.
fn results_from_points<const N: usize>(table: &[[f64; N]; N]) -> Vec<PairResult> {
    let mut results = Vec::new();
    for (first, row) in table.iter().enumerate() {
        for (second, &wins) in row.iter().enumerate().skip(first + 1) {
            let losses = table[second][first];
            results.push(PairResult { first, second, wins, draws: 0.0, losses });
        }
    }
    results
}

// Runarsson & Lucas (2014), "Preference Learning for Move Prediction and Evaluation Function
// Approximation in Othello", Tables III to V; 2,000 games per pair, rated with BayesElo.

#[test]
fn table_iii_ratings_match_the_paper() {
    let percent = [
        78.0, 77.8, 73.3, 71.6, 69.2, 69.1, 65.3, 49.5, 49.4, 46.5, 37.9, 35.5, 33.1, 31.6, 23.4,
        21.9, 17.1,
    ];
    let published = [
        1850.0, 1848.0, 1803.0, 1787.0, 1765.0, 1765.0, 1730.0, 1597.0, 1596.0, 1573.0, 1499.0,
        1479.0, 1457.0, 1444.0, 1364.0, 1348.0, 1293.0,
    ];
    let points = percent.map(|percent| percent / 100.0 * 32_000.0);
    let games: Vec<Vec<f64>> =
        (0..17).map(|i| (0..17).map(|j| if i == j { 0.0 } else { 2000.0 }).collect()).collect();
    let ratings = fit_totals(&points, &games, &RatingConfig::default()).unwrap();
    assert_near(&ratings, &published, 1.0);
    assert_eq!(ratings.virtual_games, 0.0);
    // The two best differ by 2 points, which is not significant with 32,000 games each.
    let los = ratings.los(0, 1);
    assert!(los > 0.5 && los < 0.95, "{los}");
    assert!(ratings.los(0, 16) > 1.0 - 1e-12);
}

/// Table IV: points of the row's player against the column's.
const TABLE_IV: [[f64; 7]; 7] = [
    [0.0, 1134.5, 1286.5, 1245.5, 1337.5, 1248.0, 1372.0],
    [865.5, 0.0, 1031.0, 1219.0, 1111.5, 1293.5, 1349.0],
    [713.5, 969.0, 0.0, 1044.5, 1057.5, 995.0, 1212.0],
    [754.5, 781.0, 955.5, 0.0, 940.5, 1164.0, 1184.5],
    [662.5, 888.5, 942.5, 1059.5, 0.0, 1011.5, 1107.0],
    [752.0, 706.5, 1005.0, 836.0, 988.5, 0.0, 840.0],
    [628.0, 651.0, 788.0, 815.5, 893.0, 1160.0, 0.0],
];

#[test]
fn table_iv_ratings_match_the_paper() {
    let published = [1683.0, 1644.0, 1599.0, 1588.0, 1583.0, 1556.0, 1546.0];
    let ratings = fit(7, &results_from_points(&TABLE_IV), &RatingConfig::default()).unwrap();
    assert_near(&ratings, &published, 1.0);
}

#[test]
fn table_v_ratings_match_the_paper() {
    let table = [
        [0.0, 865.5, 1807.5, 1547.5, 1863.5, 1901.5, 1921.5, 1958.5],
        [1134.5, 0.0, 1614.0, 1178.5, 1799.5, 1842.0, 1878.5, 1915.5],
        [192.5, 386.0, 0.0, 1089.0, 1575.5, 1578.0, 1713.5, 1746.0],
        [452.5, 821.5, 911.0, 0.0, 1297.0, 1382.5, 1296.5, 1494.0],
        [136.5, 200.5, 424.5, 703.0, 0.0, 1128.0, 1306.5, 1629.5],
        [98.5, 158.0, 422.0, 617.5, 872.0, 0.0, 1246.0, 1595.5],
        [78.5, 121.5, 286.5, 703.5, 693.5, 754.0, 0.0, 987.0],
        [41.5, 84.5, 254.0, 506.0, 370.5, 404.5, 1013.0, 0.0],
    ];
    let published = [1906.0, 1866.0, 1668.0, 1632.0, 1512.0, 1483.0, 1399.0, 1335.0];
    let ratings = fit(8, &results_from_points(&table), &RatingConfig::default()).unwrap();
    // At the top of this widest league the exact maximum is 2.35 points above the published rating.
    // An independent optimizer finds the same maximum; the paper does not state the number of draws.
    assert_near(&ratings, &published, 2.4);
}

#[test]
fn totals_and_pair_results_agree() {
    let results = results_from_points(&TABLE_IV);
    let config = RatingConfig { prior: 2.0, ..RatingConfig::default() };
    let points = TABLE_IV.map(|row| row.iter().sum());
    let games: [[f64; 7]; 7] =
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 0.0 } else { 2000.0 }));
    let (from_pairs, from_totals) =
        (fit(7, &results, &config).unwrap(), fit_totals(&points, &games, &config).unwrap());
    for (a, b) in from_pairs.ratings.iter().zip(&from_totals.ratings) {
        assert!((a.value - b.value).abs() < 1e-7 && (a.half_width - b.half_width).abs() < 1e-7);
    }
}

/// A league of five players as (first, second, wins, draws, losses). In the games between players 0
/// and 4, player 4 always moved first.
const FIVE_PLAYERS: [(usize, usize, u32, u32, u32); 19] = [
    (0, 1, 42, 12, 14),
    (0, 2, 22, 5, 8),
    (0, 3, 59, 6, 13),
    (1, 0, 16, 10, 17),
    (1, 2, 39, 14, 16),
    (1, 3, 23, 5, 9),
    (1, 4, 22, 1, 5),
    (2, 0, 15, 10, 46),
    (2, 1, 18, 12, 23),
    (2, 3, 33, 5, 14),
    (2, 4, 16, 5, 4),
    (3, 0, 5, 6, 15),
    (3, 1, 22, 13, 29),
    (3, 2, 25, 16, 29),
    (3, 4, 33, 8, 17),
    (4, 0, 9, 5, 40),
    (4, 1, 13, 9, 45),
    (4, 2, 21, 13, 49),
    (4, 3, 10, 3, 11),
];

fn five_player_results() -> Vec<PairResult> {
    (FIVE_PLAYERS.iter())
        .map(|&(first, second, wins, draws, losses)| PairResult {
            first,
            second,
            wins: wins.into(),
            draws: draws.into(),
            losses: losses.into(),
        })
        .collect()
}

#[test]
fn scipy_finds_the_same_maximum_and_confidence_intervals() {
    // SciPy 1.x: Nelder-Mead, then BFGS, and 1.96 standard errors from the inverse of a numerical
    // Hessian. A case has the log-likelihood, the ratings, the advantage, the draw parameter and the
    // LOS of player 1 over player 2.
    type Case = (RatingConfig, f64, [(f64, f64); 5], (f64, f64), (f64, f64), f64);
    let cases: [Case; 2] = [
        (
            RatingConfig::default(),
            -628.634_883_6,
            [
                (1743.1031, 31.935),
                (1652.2865, 27.809),
                (1592.553, 26.586),
                (1544.4886, 28.576),
                (1467.5688, 33.109),
            ],
            (0.0, 0.0),
            (0.0, 0.0),
            0.997_214_4,
        ),
        (
            FITTED,
            -934.295_472_3,
            [
                (1752.7197, 29.891),
                (1662.0317, 26.136),
                (1597.2483, 24.718),
                (1538.369, 27.208),
                (1449.6313, 31.698),
            ],
            (43.0746, 22.211),
            (64.6696, 9.451),
            0.999_404_85,
        ),
    ];
    for (config, likelihood, ratings, advantage, draw_elo, los) in cases {
        let ours = fit(5, &five_player_results(), &config).unwrap();
        let assert_equal = |ours: Estimate, (value, half_width): (f64, f64)| {
            assert!((ours.value - value).abs() < 2e-4, "{ours:?} is not {value}");
            assert!((ours.half_width - half_width).abs() < 2e-3, "{ours:?} is not {half_width}");
        };
        ours.ratings.iter().zip(ratings).for_each(|(ours, theirs)| assert_equal(*ours, theirs));
        assert_equal(ours.advantage, advantage);
        assert_equal(ours.draw_elo, draw_elo);
        assert!((ours.log_likelihood - likelihood).abs() < 1e-6);
        assert!((ours.los(1, 2) - los).abs() < 1e-5);
    }
}

#[test]
fn ratings_do_not_depend_on_player_order() {
    let order = [3, 0, 4, 1, 2];
    let moved: Vec<PairResult> = (five_player_results().into_iter().rev())
        .map(|pair| PairResult { first: order[pair.first], second: order[pair.second], ..pair })
        .collect();
    for config in [RatingConfig::default(), FITTED] {
        let (before, after) =
            (fit(5, &five_player_results(), &config).unwrap(), fit(5, &moved, &config).unwrap());
        for i in 0..5 {
            let (a, b) = (before.ratings[i], after.ratings[order[i]]);
            assert!((a.value - b.value).abs() < 1e-8 && (a.half_width - b.half_width).abs() < 1e-8);
            assert_eq!(before.points[i], after.points[order[i]]);
            for j in 0..5 {
                let (a, b) = (before.los(i, j), after.los(order[i], order[j]));
                assert!((a - b).abs() < 1e-10);
                assert_eq!(before.los(i, j) + before.los(j, i), 1.0);
            }
        }
        let mean = before.ratings.iter().map(|r| r.value).sum::<f64>() / 5.0;
        assert!((mean - 1600.0).abs() < 1e-9);
        // The mean is fixed, so the covariances with all players sum to zero.
        for i in 0..5 {
            assert!((0..5).map(|j| before.covariance(i, j)).sum::<f64>().abs() < 1e-9);
        }
    }
}

/// Simulates a league of players of these strengths; every ordered pair plays `games` games.
fn simulate_league(
    strengths: &[f64],
    advantage: f64,
    draw_elo: f64,
    games: u32,
    rng: &mut Rng,
) -> Vec<PairResult> {
    let mut results = Vec::new();
    for (first, a) in strengths.iter().enumerate() {
        for (second, b) in strengths.iter().enumerate().filter(|&(second, _)| second != first) {
            let win = expected_score(a - b + advantage - draw_elo);
            let loss = expected_score(b - a - advantage - draw_elo);
            let mut result = PairResult { first, second, wins: 0.0, draws: 0.0, losses: 0.0 };
            for _ in 0..games {
                match rng.unit() {
                    u if u < win => result.wins += 1.0,
                    u if u < win + loss => result.losses += 1.0,
                    _ => result.draws += 1.0,
                }
            }
            results.push(result);
        }
    }
    results
}

#[test]
fn confidence_intervals_have_nominal_coverage() {
    let leagues = 1000;
    for (name, advantage, draw_elo, config) in [
        ("ratings only", 0.0, 0.0, RatingConfig::default()),
        ("all parameters", 40.0, 80.0, FITTED),
    ] {
        let mut rng =
            rng::stream(1, &["coverage", if config == FITTED { "full" } else { "plain" }]);
        let players = 6;
        // Number of intervals that contain the true value, and of wrong claims by LOS.
        let (mut ratings_covered, mut advantages_covered, mut draw_elos_covered) = (0, 0, 0);
        let mut false_claims = 0;
        for _ in 0..leagues {
            let mut strengths: Vec<f64> = (0..players).map(|_| 120.0 * rng.normal()).collect();
            let mean = strengths.iter().sum::<f64>() / players as f64;
            strengths.iter_mut().for_each(|s| *s -= mean);
            let results = simulate_league(&strengths, advantage, draw_elo, 40, &mut rng);
            let found = fit(players, &results, &config).unwrap();
            let covers =
                |e: Estimate, truth: f64| usize::from((e.value - truth).abs() <= e.half_width);
            for (found, truth) in found.ratings.iter().zip(&strengths) {
                ratings_covered += covers(*found, 1600.0 + truth);
            }
            advantages_covered += covers(found.advantage, advantage);
            draw_elos_covered += covers(found.draw_elo, draw_elo);
            // An LOS above 95% should rarely be reported for the weaker player.
            false_claims += usize::from(strengths[0] < strengths[1] && found.los(0, 1) > 0.95);
        }
        // Four standard deviations of a binomial proportion over independent leagues.
        let tolerance = 4.0 * (0.95 * 0.05 / f64::from(leagues)).sqrt();
        let rate = |count: usize, total: f64| count as f64 / total;
        let all = rate(ratings_covered, f64::from(leagues) * players as f64);
        assert!((all - 0.95).abs() < tolerance, "{name}: {all}");
        for count in [advantages_covered, draw_elos_covered] {
            let rate = rate(count, f64::from(leagues));
            assert!(advantage == 0.0 || (rate - 0.95).abs() < tolerance, "{name}: {rate}");
        }
        assert!(rate(false_claims, f64::from(leagues)) < 0.05);
    }
}

#[test]
fn advantage_and_draw_elo_are_recovered_from_many_games() {
    let mut rng = rng::stream(2, &["recovery"]);
    let strengths = [200.0, 90.0, 10.0, -120.0, -180.0];
    let found =
        fit(5, &simulate_league(&strengths, 33.0, 70.0, 20_000, &mut rng), &FITTED).unwrap();
    assert!((found.advantage.value - 33.0).abs() < 2.5, "{:?}", found.advantage);
    assert!((found.draw_elo.value - 70.0).abs() < 1.5, "{:?}", found.draw_elo);
    for (found, truth) in found.ratings.iter().zip(strengths) {
        assert!((found.value - 1600.0 - truth).abs() < 2.5);
    }
}

fn pair_result(first: usize, second: usize, wins: f64, draws: f64, losses: f64) -> PairResult {
    PairResult { first, second, wins, draws, losses }
}

#[test]
fn perfect_scores_get_finite_ratings_with_virtual_games() {
    // Player 0 won every game, player 3 lost every game.
    let mut results = Vec::new();
    for (i, j) in (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j))) {
        let (won, lost) = if i == 0 || j == 3 { (50.0, 0.0) } else { (30.0, 20.0) };
        results.push(pair_result(i, j, won, 0.0, lost));
        results.push(pair_result(j, i, lost, 0.0, won));
    }
    for config in [RatingConfig::default(), FITTED] {
        let found = fit(4, &results, &config).unwrap();
        assert_eq!(found.virtual_games, 1.0);
        assert!(found.ratings.windows(2).all(|pair| pair[0].value > pair[1].value));
        for rating in &found.ratings {
            assert!((rating.value - 1600.0).abs() < 1500.0 && rating.half_width < 1500.0);
            assert!(rating.half_width > 0.0 && rating.half_width.is_finite());
        }
    }
    // One game suffices for a rating, and more wins increase the difference.
    let rating_difference = |wins: f64| {
        let found = fit(2, &[pair_result(0, 1, wins, 0.0, 0.0)], &RatingConfig::default()).unwrap();
        found.ratings[0].value - found.ratings[1].value
    };
    assert!(
        rating_difference(1.0) > 0.0
            && rating_difference(1.0) < rating_difference(1000.0)
            && rating_difference(1000.0) < 1400.0
    );
}

#[test]
fn estimates_are_finite_if_the_likelihood_has_no_maximum() {
    let cases = [
        // The player who moves first always wins.
        [pair_result(0, 1, 9.0, 0.0, 0.0), pair_result(1, 0, 9.0, 0.0, 0.0)],
        // All games are drawn.
        [pair_result(0, 1, 0.0, 9.0, 0.0), pair_result(1, 0, 0.0, 9.0, 0.0)],
        // Player 0 never loses; it wins only when it moves first.
        [pair_result(0, 1, 4.0, 5.0, 0.0), pair_result(1, 0, 0.0, 9.0, 0.0)],
        // Player 0 never loses, and wins with either color.
        [pair_result(0, 1, 4.0, 5.0, 0.0), pair_result(1, 0, 0.0, 5.0, 4.0)],
        // Player 0 always moves first, so its strength cannot be separated from the advantage.
        [pair_result(0, 1, 6.0, 1.0, 4.0), pair_result(0, 1, 3.0, 2.0, 5.0)],
    ];
    for case in cases {
        let found = fit(2, &case, &FITTED).unwrap();
        assert_eq!(found.virtual_games, 1.0, "{case:?}");
        for estimate in [found.ratings[0], found.ratings[1], found.advantage, found.draw_elo] {
            assert!(
                estimate.value.abs() < 3200.0 && estimate.half_width.is_finite(),
                "{case:?}: {estimate:?}"
            );
        }
    }
}

#[test]
fn a_prior_shrinks_rating_differences() {
    let results = [pair_result(0, 1, 15.0, 0.0, 5.0)];
    let rating_difference = |prior: f64| {
        let found = fit(2, &results, &RatingConfig { prior, ..RatingConfig::default() }).unwrap();
        found.ratings[0].value - found.ratings[1].value
    };
    // With v virtual draws the score is (15 + v/2) / (20 + v).
    for prior in [0.0, 2.0, 20.0] {
        let score: f64 = (15.0 + prior / 2.0) / (20.0 + prior);
        assert!((rating_difference(prior) - 400.0 * (score / (1.0 - score)).log10()).abs() < 1e-8);
    }
}

#[test]
fn disconnected_leagues_list_their_groups() {
    let results = [
        pair_result(4, 2, 1.0, 0.0, 1.0),
        pair_result(0, 3, 5.0, 1.0, 2.0),
        pair_result(1, 0, 0.0, 0.0, 0.0),
    ];
    let error = fit(5, &results, &RatingConfig::default()).unwrap_err();
    assert_eq!(error, RatingError::Disconnected { groups: vec![vec![0, 3], vec![1], vec![2, 4]] });
    assert!(error.to_string().contains("0, 3 | 1 | 2, 4"), "{error}");
}

#[test]
fn invalid_input_is_rejected() {
    let config = RatingConfig::default();
    let rejected =
        |results: &[PairResult], config: &RatingConfig| fit(2, results, config).unwrap_err();
    let even = pair_result(0, 1, 1.0, 0.0, 1.0);
    assert!(matches!(
        rejected(&[even, pair_result(0, 2, 1.0, 0.0, 0.0)], &config),
        RatingError::UnknownPlayer { index: 1, player: 2, players: 2 }
    ));
    assert!(matches!(
        rejected(&[pair_result(1, 1, 1.0, 0.0, 0.0)], &config),
        RatingError::SelfPairing { .. }
    ));
    for count in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        let error = rejected(&[PairResult { draws: count, ..even }], &config);
        assert!(matches!(error, RatingError::InvalidCount { .. }));
    }
    for draw_elo in [-1.0, f64::NAN, 1e9] {
        let config = RatingConfig { draw_elo: EloParameter::Fixed(draw_elo), ..config };
        assert!(matches!(rejected(&[even], &config), RatingError::InvalidOption { .. }));
    }
    let square = [[0.0, 10.0], [10.0, 0.0]];
    assert!(fit_totals(&[6.0, 4.0], &square, &config).is_ok());
    assert!(fit_totals(&[6.0, 3.0], &square, &config).is_err());
    assert!(fit_totals(&[11.0, -1.0], &square, &config).is_err());
    assert!(fit_totals(&[6.0, 4.0], &square[..1], &config).is_err());
    assert!(fit_totals(&[6.0, 4.0], &[[0.0, 10.0], [9.0, 0.0]], &config).is_err());
    assert!(fit_totals(&[6.0, 4.0], &square, &FITTED).is_err());
    assert_eq!(fit_totals(&[10.0, 0.0], &square, &config).unwrap().virtual_games, 1.0);
}

#[test]
fn small_leagues_and_long_chains_are_rated() {
    let empty: [[f64; 0]; 0] = [];
    assert!(fit(0, &[], &FITTED).unwrap().ratings.is_empty());
    assert!(fit_totals(&[], &empty, &RatingConfig::default()).unwrap().ratings.is_empty());
    let alone = fit(1, &[], &RatingConfig::default()).unwrap();
    assert_eq!(alone.ratings, [Estimate { value: 1600.0, half_width: 0.0 }]);
    assert_eq!(alone.los(0, 0), 0.5);

    // In a chain, only neighbors met. The difference between its ends is not limited.
    let chain: Vec<PairResult> = (0..300).map(|i| pair_result(i, i + 1, 75.0, 0.0, 25.0)).collect();
    let found = fit(301, &chain, &RatingConfig::default()).unwrap();
    assert_eq!(found.virtual_games, 0.0);
    let step = 400.0 * 3f64.log10();
    assert!((found.ratings[0].value - found.ratings[300].value - 300.0 * step).abs() < 1e-4);
    // The differences along a chain are independent, so their variances add up.
    let variance =
        found.covariance(0, 0) + found.covariance(300, 300) - 2.0 * found.covariance(0, 300);
    let per_step = (400.0 / 10f64.ln()).powi(2) / (100.0 * 0.75 * 0.25);
    assert!((variance / (300.0 * per_step) - 1.0).abs() < 1e-6);
}
