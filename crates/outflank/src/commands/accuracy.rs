//! `outflank accuracy`: move-prediction accuracy of models.

use crate::Outcome;
use crate::cli::AccuracyArgs;
use crate::errors::{UsageError, bail_usage, ensure_usage};
use crate::game_source::{self, GameSource};
use crate::model_source::note_players;
use crate::output::{format_count, print, print_json, set_threads, table_width};
use anyhow::{Result, ensure};
use outflank_arena::accuracy::{Accuracy, accuracy};
use outflank_games::othello::Othello;
use outflank_models::Policy;
use outflank_players::PlayerSpec;
use outflank_players::registry::{RegistryError, find_model};
use outflank_players::spec::SearchSpec;
use outflank_presentation as present;
use outflank_records::{DecisionFilter, decisions};
use outflank_runs::{Progress, files};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Measures each model on the same decisions.
pub fn run(args: &AccuracyArgs) -> Result<Outcome> {
    set_threads(args.common.threads())?;
    if let Some(folder) = &args.out {
        ensure_usage!(
            !folder.join("config.toml").exists(),
            "{} is a run folder, whose files would be overwritten; name another folder with --out",
            folder.display()
        );
    }
    let models = load_models(&args.models)?;
    note_players(&args.models, args.common.quiet);
    let source = game_source::read(&args.records, args.common.seed)?;
    let wanted = DecisionFilter {
        by: args.records.select.by.as_deref(),
        random: false,
        ..DecisionFilter::ALL
    };
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
        write(args, folder, &source, &results, &document)?;
    }
    if args.common.json {
        print_json(&document)?;
    } else {
        print(&format!(
            "{} games from {}\n\n{}\n{}",
            format_count(source.records.len() as u64),
            source.from,
            present::accuracy_table(&results).to_text_within(table_width()),
            present::stage_table(&results).to_text_within(table_width())
        ))?;
        if let Some(folder) = &args.out {
            print(&format!("\nAll files are in {} (start with report.html)\n", folder.display()))?;
        }
    }
    Ok(Outcome::Done)
}

type NamedPolicy = (String, Arc<dyn Policy<Othello>>);

/// Loads the models, each under its label.
fn load_models(texts: &[String]) -> Result<Vec<NamedPolicy>> {
    let mut models: Vec<NamedPolicy> = Vec::new();
    for text in texts {
        let spec: PlayerSpec = text.parse()?;
        ensure_usage!(
            spec.search == SearchSpec::Default
                && spec.ply_switch.is_none()
                && spec.random == 0.0
                && spec.noise == 0.0,
            "'{text}' sets a search, plies, random or noise; accuracy measures the model alone: omit them"
        );
        ensure_usage!(
            !spec.model.starts_with("nboard:") && !spec.model.starts_with("gtp:"),
            "'{text}' is an engine, which returns a single move; accuracy measures models"
        );
        let model = match find_model::<Othello>(&spec) {
            Err(RegistryError::WrongGame { name, plays, .. }) => {
                bail_usage!("{name} plays {plays}; accuracy is measured on games of othello")
            }
            found => found?,
        };
        let policy = model.policy().ok_or_else(|| {
            UsageError(format!(
                "'{text}' does not score moves; name a model (see `outflank players`)"
            ))
        })?;
        let label = spec.label();
        ensure_usage!(
            models.iter().all(|(other, _)| *other != label),
            "two models are called '{label}'; rename one of them with ?name=..."
        );
        models.push((label, policy));
    }
    Ok(models)
}

/// Writes the report files to a folder.
fn write(
    args: &AccuracyArgs,
    folder: &Path,
    source: &GameSource,
    results: &[(String, Accuracy)],
    document: &Value,
) -> Result<()> {
    files::create_folder(folder)?;
    let mut words = ["outflank", "accuracy"].map(str::to_owned).to_vec();
    words.extend(args.models.iter().cloned());
    words.extend(game_source::repeat_options(&args.records, args.common.seed));
    let about = present::Provenance {
        command: shell_words::join(words),
        seed: args.common.seed,
        version: crate::VERSION.to_owned(),
        data: source.files.clone(),
    };
    files::write(
        &folder.join("accuracy.json"),
        format!("{}\n", serde_json::to_string_pretty(document)?).as_bytes(),
    )?;
    files::write(&folder.join("accuracy.csv"), present::stage_table(results).to_csv().as_bytes())?;
    files::write(&folder.join("report.html"), present::accuracy_page(results, &about).as_bytes())?;
    Ok(())
}
