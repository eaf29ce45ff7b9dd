//! TD(λ) on large patterns by stage of the game.

use super::{Job, check, learn};
use crate::Outcome;
use crate::cli::learn_play::SelfPlayArgs;
use crate::contestants::model_file;
use anyhow::{Context, Result, bail, ensure};
use outflank_games::othello::Othello;
use outflank_learners::self_play::{SelfPlay, SelfPlayConfig};
use outflank_models::files::load_tuples;
use outflank_models::patterns::{AfterstateFeatures, Count, Stages, whole_board};
use outflank_players::PlayerSpec;
use outflank_players::registry::{self, Model};
use outflank_players::spec::SearchSpec;
use outflank_runs::DataFile;
use outflank_runs::files::{checksum, read};
use std::path::Path;

/// A quarter of the games make a player robust against its rival and leave it strong otherwise.
const RIVALRY: f64 = 0.25;

/// Learns by self-play; nothing runs before the settings make sense.
pub fn run(args: &SelfPlayArgs) -> Result<Outcome> {
    let training = &args.training;
    check(training)?;
    ensure!(
        args.rival.is_some() || args.rivalry.is_none(),
        "--rivalry is the share of games against --rival; name one or leave it out"
    );
    let rivalry = rivalry(args);
    for (name, value) in [("random", args.random), ("lambda", args.lambda), ("rivalry", rivalry)] {
        ensure!((0.0..=1.0).contains(&value), "--{name} is a number from 0 to 1, not {value}");
    }
    ensure!(args.rate > 0.0 && args.rate <= 100.0, "--rate must be above 0, not {}", args.rate);
    ensure!(args.opening <= 60, "--opening is a number of moves up to 60, not {}", args.opening);
    let stages = Stages::of_width(args.stage).with_context(|| {
        format!("--stage is a number of discs from 1 to 60, not {}", args.stage)
    })?;
    ensure!(args.batch > 0, "--batch must be at least 1");
    let batches = training.games / u64::from(args.batch);
    ensure!(
        batches > 0,
        "--games {} do not make a batch of {}; give more games or a smaller --batch",
        training.games,
        args.batch
    );
    let (look, mut data) = look(args)?;
    let settings = Settings {
        batches: u32::try_from(batches).context("--games has too many batches")?,
        games_per_batch: args.batch,
        random: args.random,
        opening: args.opening,
        rivalry: if args.rival.is_some() { rivalry } else { 0.0 },
        lambda: args.lambda,
        rate: args.rate,
        seed: training.common.seed,
    };
    let mut learner = SelfPlay::new(look, stages, settings);
    if let Some(text) = &args.rival {
        let spec: PlayerSpec = text.parse()?;
        ensure!(
            spec.search == SearchSpec::Default
                && (spec.random, spec.noise) == (0.0, 0.0)
                && spec.stage.is_none(),
            "--rival '{text}': a rival plays at one ply, its random moves are those of --random; \
             give the model alone"
        );
        match registry::find_model::<Othello>(&spec)? {
            Model::Value(value) => learner = learner.with_opponent(value),
            _ => bail!("--rival takes a model that says what a position is worth, not '{text}'"),
        }
        data.extend(model_file(text));
    }
    crate::commands::data::pool(training.common.threads())?;
    let job = Job {
        name: "selfplay",
        args: training,
        settings: table(args),
        what: format!("features {}, stages of {} discs", args.features, args.stage),
        data,
        others: None,
    };
    learn(&job, learner)
}

/// The share of games against a rival, where there is one.
fn rivalry(args: &SelfPlayArgs) -> f64 {
    args.rivalry.unwrap_or(RIVALRY)
}

fn look(args: &SelfPlayArgs) -> Result<(AfterstateFeatures, Vec<DataFile>)> {
    if args.features == "patterns" {
        return Ok((AfterstateFeatures::new(whole_board(), Count::ALL.to_vec())?, Vec::new()));
    }
    let path = Path::new(&args.features);
    let tuples =
        load_tuples(path).context("--features takes patterns or a file that lists tuples")?;
    let sha256 = checksum(&read(path, 1 << 30)?);
    let file = DataFile { file: args.features.clone(), sha256 };
    Ok((AfterstateFeatures::new(tuples, Vec::new())?, vec![file]))
}

/// The settings by the names of the options.
fn table(args: &SelfPlayArgs) -> toml::Table {
    let mut table = toml::Table::new();
    table.insert("features".to_owned(), args.features.clone().into());
    for (key, value) in [("stage", args.stage), ("batch", args.batch), ("opening", args.opening)] {
        table.insert(key.to_owned(), i64::from(value).into());
    }
    for (key, value) in [("random", args.random), ("lambda", args.lambda), ("rate", args.rate)] {
        table.insert(key.to_owned(), value.into());
    }
    if let Some(rival) = &args.rival {
        table.insert("rival".to_owned(), rival.clone().into());
        table.insert("rivalry".to_owned(), rivalry(args).into());
    }
    table
}
