//! Gaussian-process preference learning: CPU time of 100 rounds of either game as in Yelluri
//! (2015), with kernel parameters optimized in each round.

use super::{BenchmarkRow, min_thread_cpu_seconds};
use anyhow::{Context, Result, ensure};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_learners::gp::ep::{EpConfig, Sites, infer};
use outflank_learners::gp::kernel::Kernel;
use outflank_learners::gp::{
    Acquisition, GameOracleConfig, GpConfig, GpLearner, HeuristicSpace, InferenceConfig,
};
use outflank_models::NamedFeatures;
use outflank_players::registry::RegisteredGame;
use outflank_runs::thread_cpu_seconds;
use std::hint::black_box;

const ROUNDS: u32 = 100;

/// Target CPU time of the rounds (a minute on two cores) and the published time, in seconds.
const TARGET: f64 = 120.0;
const PAPER: f64 = 45.0 * 60.0;

/// Measures both games.
pub fn measure(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    // A pool of one thread, whose CPU time is measured.
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).build().context("cannot start a thread")?;
    pool.install(|| {
        game::<Othello>(rows)?;
        game::<Checkers>(rows)
    })
}

fn game<P: RegisteredGame + NamedFeatures>(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    let ep_config = EpConfig { tolerance: 1e-4, max_iterations: 100, seed: 1 };
    let settings = GpConfig {
        dimensions: P::FEATURES.len(),
        space: HeuristicSpace::Directions,
        initial: 2,
        opponents: 5,
        choose_opponents: false,
        acquisition: Acquisition::Bald,
        against_best: false,
        restarts: 8,
        inference: InferenceConfig {
            tolerance: ep_config.tolerance,
            ep_max_iterations: ep_config.max_iterations,
            kernel_max_iterations: 10,
            relevance: false,
        },
        seed: 1,
    };
    let contest = GameOracleConfig { depth: 4, games: 3, opening: 2, seed: 1 };
    let mut gp = GpLearner::<P>::new(settings, contest, 0)?;
    let [mut query_seconds, mut game_seconds, mut inference_seconds] = [0.0; 3];
    for _ in 0..=ROUNDS {
        let began = thread_cpu_seconds();
        let query = gp.next_query();
        let selected = thread_cpu_seconds();
        let outcomes = gp.compare(&query)?;
        let compared = thread_cpu_seconds();
        gp.update(&query, &outcomes)?;
        query_seconds += selected - began;
        game_seconds += compared - selected;
        inference_seconds += thread_cpu_seconds() - compared;
    }
    let total = query_seconds + game_seconds + inference_seconds;
    let (title, games) = (P::GAME, gp.games_played());
    let mut row = |name: String, value: f64, reference: String, ratio: Option<f64>| {
        let (value, unit) = if value < 1.0 { (1e3 * value, "ms") } else { (value, "s") };
        rows.push(BenchmarkRow { area: "learners", name, value, unit, reference, ratio });
    };
    row(
        format!("gp, {title}, {ROUNDS} rounds, CPU time"),
        total,
        format!(
            "target: {TARGET} s, a minute on 2 cores; stored: {PAPER} s in the paper, machine unknown"
        ),
        Some(TARGET / total),
    );
    let share = |part: f64| format!("{:.0}% of the total", 100.0 * part / total);
    let name = |what: &str| format!("gp, {title}: {what}");
    row(name(&format!("{games} games")), game_seconds, share(game_seconds), None);
    row(name("inference and kernel parameters"), inference_seconds, share(inference_seconds), None);
    row(name("BALD"), query_seconds, share(query_seconds), None);

    let active = gp.active_learner();
    let (points, comparisons) = (active.points(), active.comparisons());
    let posterior = active.posterior().context("there is no posterior")?;
    let kernel = Kernel::from_logs(active.log_parameters());
    let mut evidence = f64::NAN;
    let seconds = min_thread_cpu_seconds(3, || {
        let mut sites = Sites::default();
        let found = infer(&kernel, points, comparisons, &mut sites, &ep_config);
        evidence = found.map_or(f64::NAN, |latent| latent.log_evidence);
    });
    let expected = posterior.latent().log_evidence;
    ensure!(
        (evidence - expected).abs() < 1e-2,
        "log evidence {evidence}, but {expected} during training"
    );
    let size = format!("{} heuristics, {} comparisons", points.len(), comparisons.len());
    let once = "once, at the end, from zero site parameters".to_owned();
    row(name(&format!("expectation propagation, {size}")), seconds, once, None);
    let seconds = min_thread_cpu_seconds(3, || {
        black_box(posterior.latent().gradient(points));
    });
    let once = "once, at the end".to_owned();
    row(name(&format!("gradient of the evidence, {size}")), seconds, once, None);
    Ok(())
}
