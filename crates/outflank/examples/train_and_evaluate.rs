//! Train and evaluate: preference learning on expert games, accuracy on other games, a match, and a
//! model file.
//!
//! Run it with `cargo run --release -p outflank --example train_and_evaluate`.

use outflank::models::files;
use outflank::prelude::*;
use std::error::Error;
use std::sync::Arc;

/// Trains a network on embedded games, measures it and saves it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let games = embedded::games();
    let (training, test) = (&games[..300], &games[300..500]);
    let choices = decisions(training, &DecisionFilter::CHOICES);
    let tuples = outflank::models::embedded::runarsson_lucas_tuples();
    let data = TrainingData::new(training, choices.items(), tuples);
    let trained = train(Method::IPref, data, &MethodOptions::default(), 1, &mut |_| true)?;
    println!("{}", trained.summary);

    let test = decisions(test, &DecisionFilter::CHOICES);
    let policy = trained.model.policy();
    let hits = accuracy(&*policy, test.items()).choices;
    println!("accuracy: {:.1}% ± {:.1}", hits.percent(), hits.half_width());
    assert!(hits.percent() > 25.0);

    let player = PlayerFactory::new("trained", move || {
        Ok(Box::new(Greedy::<Othello>::new(Arc::clone(&policy))))
    });
    let config = ContestConfig { rounds: 20, ..ContestConfig::default() };
    let (report, _) = play_match(&[player, factory("random")?], &config, None, None, |_, _| true)?;
    println!("score against {}: {:.2} ± {:.2}", report.b, report.score, report.half_width);
    assert!(report.score > 0.6);

    let path = std::env::temp_dir().join(format!("trained-{}.safetensors", std::process::id()));
    files::save(
        &path,
        &trained.model,
        &Origin { method: "ipref".to_owned(), ..Origin::default() },
    )?;
    let (loaded, origin) = files::load(&path)?;
    std::fs::remove_file(&path)?;
    println!("saved and loaded: {} weights, method {}", loaded.weight_count(), origin.method);
    Ok(())
}
