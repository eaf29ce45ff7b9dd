//! `outflank accuracy`: how often a model picks the move that was played.

use crate::Outcome;
use crate::cli::AccuracyArgs;
use crate::games::{source, typed};
use crate::output::{grouped, print, print_json, room};
use anyhow::{Context, Result, bail, ensure};
use outflank_arena::accuracy::{Accuracy, accuracy};
use outflank_games::othello::Othello;
use outflank_players::PlayerSpec;
use outflank_players::registry::{RegistryError, find_model};
use outflank_players::spec::SearchSpec;
use outflank_presentation as present;
use outflank_records::{DecisionFilter, decisions};
use outflank_runs::{Progress, files};
use serde_json::json;

/// Measures each model on the same decisions.
pub fn run(args: &AccuracyArgs) -> Result<Outcome> {
    super::data::pool(args.common.threads())?;
    if let Some(folder) = &args.out {
        ensure!(
            !folder.join("config.toml").exists(),
            "{} holds a run, whose files would be overwritten; name another folder with --out",
            folder.display()
        );
    }
    let mut models: Vec<(String, _)> = Vec::new();
    for text in &args.models {
        let spec: PlayerSpec = text.parse()?;
        ensure!(
            spec.search == SearchSpec::Default
                && spec.stage.is_none()
                && spec.random == 0.0
                && spec.noise == 0.0,
            "'{text}' is a way to play; accuracy measures the model alone: leave out @, stage, random and noise"
        );
        ensure!(
            !spec.model.starts_with("nboard:") && !spec.model.starts_with("gtp:"),
            "'{text}' is an engine, which says only one move; accuracy measures models"
        );
        let model = match find_model::<Othello>(&spec) {
            Err(RegistryError::WrongGame { name, plays, .. }) => {
                bail!("{name} plays {plays}; accuracy is measured on games of othello")
            }
            found => found?,
        };
        let policy = model.policy().with_context(|| {
            format!("'{text}' rates no moves; name a model that does (see `outflank players`)")
        })?;
        let label = spec.label();
        ensure!(
            models.iter().all(|(other, _)| *other != label),
            "two models are called '{label}'; give one of them another name with ?name=..."
        );
        models.push((label, policy));
    }
    let source = source(&args.records, args.common.seed)?;
    let wanted = DecisionFilter { by: args.records.select.by.as_deref(), random: false, ..DecisionFilter::ALL };
    let set = decisions(&source.records, &wanted);
    ensure!(!set.is_empty(), "there are no moves to predict in {}", source.from);
    let progress = Progress::new("predicting", "models", models.len() as u64, args.common.quiet);
    let results: Vec<(String, Accuracy)> = models
        .into_iter()
        .map(|(name, policy)| {
            let result = accuracy(&*policy, set.items());
            progress.add(1);
            (name, result)
        })
        .collect();
    drop(progress);
    let document = json!({
        "records": source.from,
        "games": source.records.len(),
        "models": results.iter().map(|(name, a)| present::accuracy_json(name, a)).collect::<Vec<_>>(),
    });
    if let Some(folder) = &args.out {
        files::create_folder(folder)?;
        let mut words = ["outflank", "accuracy"].map(str::to_owned).to_vec();
        words.extend(args.models.iter().cloned());
        words.extend(typed(&args.records, args.common.seed));
        let about = present::Provenance {
            command: shell_words::join(words),
            seed: args.common.seed,
            version: crate::VERSION.to_owned(),
            data: source.files.clone(),
        };
        files::write(
            &folder.join("accuracy.json"),
            format!("{}\n", serde_json::to_string_pretty(&document)?).as_bytes(),
        )?;
        files::write(
            &folder.join("accuracy.csv"),
            present::stage_table(&results).to_csv().as_bytes(),
        )?;
        files::write(
            &folder.join("report.html"),
            present::accuracy_page(&results, &about).as_bytes(),
        )?;
    }
    if args.common.json {
        print_json(&document)?;
    } else {
        print(&format!(
            "{} games from {}\n\n{}\n{}",
            grouped(source.records.len() as u64),
            source.from,
            present::accuracy_table(&results).to_text_within(room()),
            present::stage_table(&results).to_text_within(room())
        ))?;
        if let Some(folder) = &args.out {
            print(&format!("\nwritten to {} (start with report.html)\n", folder.display()))?;
        }
    }
    Ok(Outcome::Done)
}
