//! Move-prediction accuracy as JSON, tables, plot and page.

use crate::Provenance;
use outflank_arena::accuracy::{ACCURACY_STAGES, Accuracy, BinomialCount};
use outflank_report::{Align, Page, Plot, Point, Series, Table};
use serde_json::{Value, json};

/// Formats the range of discs of a stage, as in Runarsson & Lucas (2014), Table II.
fn disc_range(stage: usize) -> String {
    format!("{}-{}", ACCURACY_STAGES[stage].0, ACCURACY_STAGES[stage].1)
}

/// Builds the JSON document of a model's accuracy.
#[must_use]
pub fn accuracy_json(name: &str, accuracy: &Accuracy) -> Value {
    let hits = |h: &BinomialCount| json!({ "hits": h.successes, "count": h.count, "percent": h.percent(), "error": h.half_width() });
    let stages: Vec<Value> = (0..ACCURACY_STAGES.len())
        .map(|stage| {
            let (choices, pairs) = (&accuracy.stages[stage], &accuracy.stage_pairs[stage]);
            json!({
                "discs": disc_range(stage),
                "count": choices.count,
                "percent": choices.percent(),
                "error": choices.half_width(),
                "pairs_percent": pairs.percent(),
            })
        })
        .collect();
    let top: Vec<Value> = accuracy
        .top_k
        .iter()
        .enumerate()
        .map(|(i, hits)| json!({ "k": i + 1, "percent": hits.percent() }))
        .collect();
    let plies: Vec<Value> = accuracy
        .plies
        .iter()
        .enumerate()
        .map(|(i, hits)| json!({ "ply": i + 1, "count": hits.count, "percent": hits.percent() }))
        .collect();
    json!({
        "name": name,
        "choices": hits(&accuracy.choices),
        "all": hits(&accuracy.all),
        "ties_as_hits_percent": accuracy.ties_as_hits.percent(),
        "top_k": top,
        "pairs_percent": accuracy.pairs.percent(),
        "stages": stages,
        "plies": plies,
    })
}

/// Explains the columns of [`accuracy_table`].
pub const ACCURACY_LEGEND: &str = "Choices are decisions with two or more legal moves; all decisions include those with one legal move. Top-1: the played move has the model's highest score; a tie counts as a fraction of a hit, and under “with ties” as a full hit. Top-2 and top-3: the move is among the model's best two or three. Pairs: the played move is scored above another legal move.";

/// Formats the 95% confidence interval of a percentage.
fn interval(hits: &BinomialCount) -> String {
    let (low, high) = hits.interval();
    format!("{low:.2} to {high:.2}")
}

/// Builds the accuracy table, one model per row.
#[must_use]
pub fn accuracy_table(results: &[(String, Accuracy)]) -> Table {
    let mut table = Table::new([
        ("model", Align::Left),
        ("top-1", Align::Right),
        ("95% CI", Align::Right),
        ("with ties", Align::Right),
        ("all decisions", Align::Right),
        ("top-2", Align::Right),
        ("top-3", Align::Right),
        ("pairs", Align::Right),
    ])
    .caption("Move-prediction accuracy, % of choices");
    for (name, accuracy) in results {
        let percent = |hits: &BinomialCount| format!("{:.2}", hits.percent());
        table.row([
            name.clone(),
            percent(&accuracy.choices),
            interval(&accuracy.choices),
            percent(&accuracy.ties_as_hits),
            percent(&accuracy.all),
            percent(&accuracy.top_k[1]),
            percent(&accuracy.top_k[2]),
            percent(&accuracy.pairs),
        ]);
    }
    table
}

/// Builds the table of accuracy by stage, one model per column.
#[must_use]
pub fn stage_table(results: &[(String, Accuracy)]) -> Table {
    let heads = [("discs".to_owned(), Align::Left), ("choices".to_owned(), Align::Right)];
    let names = results.iter().map(|(name, _)| (name.clone(), Align::Right));
    let mut table = Table::new(heads.into_iter().chain(names));
    for stage in 0..ACCURACY_STAGES.len() {
        let count = results.first().map_or(0, |(_, accuracy)| accuracy.stages[stage].count);
        let cells = results.iter().map(|(_, accuracy)| {
            let hits = &accuracy.stages[stage];
            if hits.count == 0 { "-".to_owned() } else { format!("{:.1}", hits.percent()) }
        });
        table.row([disc_range(stage), count.to_string()].into_iter().chain(cells));
    }
    let total = results.first().map_or(0, |(_, accuracy)| accuracy.choices.count);
    let cells = results.iter().map(|(_, accuracy)| format!("{:.1}", accuracy.choices.percent()));
    table.row(["all".to_owned(), total.to_string()].into_iter().chain(cells));
    table
}

/// Builds the plot of accuracy by stage.
#[must_use]
pub fn stage_plot(results: &[(String, Accuracy)]) -> Plot {
    let mut plot =
        Plot::new("Top-1 accuracy by stage", "discs on the board after the move", "% of choices");
    for (name, accuracy) in results {
        let points =
            (0..ACCURACY_STAGES.len()).filter(|&s| accuracy.stages[s].count > 0).map(|stage| {
                let hits = &accuracy.stages[stage];
                let (low, high) = hits.interval();
                Point::with_interval(f64::from(ACCURACY_STAGES[stage].1), hits.percent(), low, high)
            });
        plot = plot.series(Series::line(name.clone(), points));
    }
    plot.y_range(0.0, 100.0)
}

/// Builds the page of move-prediction accuracy.
#[must_use]
pub fn accuracy_page(results: &[(String, Accuracy)], provenance: &Provenance) -> String {
    let mut page = Page::new("Move prediction");
    page.lead("How often each model's best move is the move that was played. 95% confidence intervals (Wilson), assuming independent decisions.");
    let section = page.section("Accuracy");
    section.table(&accuracy_table(results));
    section.paragraph(ACCURACY_LEGEND);
    section.figure(&stage_plot(results), "Stages of four discs each; the first ends at 16 discs.");
    section.table(&stage_table(results));
    provenance.add_footer(&mut page);
    page.to_html()
}
