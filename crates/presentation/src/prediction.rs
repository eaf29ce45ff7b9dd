//! Move prediction for readers.

use crate::About;
use outflank_arena::accuracy::{Accuracy, Hits, STAGES};
use outflank_report::{Align, Page, Plot, Point, Series, Table};
use serde_json::{Value, json};

/// The discs of a stage, as paper 0's Table II writes them.
fn discs(stage: usize) -> String {
    format!("{}-{}", STAGES[stage].0, STAGES[stage].1)
}

/// The document that scripts read.
#[must_use]
pub fn accuracy_json(name: &str, accuracy: &Accuracy) -> Value {
    let hits = |h: &Hits| json!({ "hits": h.hits, "count": h.count, "percent": h.percent(), "error": h.error() });
    let stages: Vec<Value> = (0..STAGES.len())
        .map(|stage| {
            let (choices, pairs) = (&accuracy.stages[stage], &accuracy.stage_pairs[stage]);
            json!({
                "discs": discs(stage),
                "count": choices.count,
                "percent": choices.percent(),
                "error": choices.error(),
                "pairs_percent": pairs.percent(),
            })
        })
        .collect();
    let top: Vec<Value> = accuracy
        .top
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

/// What the columns of [`accuracy_table`] are.
pub const LEGEND: &str = "Choices are moves with an alternative; all are those without one too. A model that rates several moves best gets its share of a hit, or under “or tied” a whole one. Top 2 and top 3: the move is among the model's best two or three choices. Pairs: the move is rated above another that was possible.";

/// One row a model.
#[must_use]
pub fn accuracy_table(results: &[(String, Accuracy)]) -> Table {
    let mut table = Table::new([
        ("model", Align::Left),
        ("choices", Align::Right),
        ("±", Align::Right),
        ("or tied", Align::Right),
        ("all", Align::Right),
        ("top 2", Align::Right),
        ("top 3", Align::Right),
        ("pairs", Align::Right),
    ])
    .caption("Moves that were predicted, in percent");
    for (name, accuracy) in results {
        let percent = |hits: &Hits| format!("{:.2}", hits.percent());
        table.row([
            name.clone(),
            percent(&accuracy.choices),
            format!("{:.2}", accuracy.choices.error()),
            percent(&accuracy.ties_as_hits),
            percent(&accuracy.all),
            percent(&accuracy.top_k[1]),
            percent(&accuracy.top_k[2]),
            percent(&accuracy.pairs),
        ]);
    }
    table
}

/// Percentages of choices by stage, one column a model.
#[must_use]
pub fn stage_table(results: &[(String, Accuracy)]) -> Table {
    let heads = [("discs".to_owned(), Align::Left), ("choices".to_owned(), Align::Right)];
    let names = results.iter().map(|(name, _)| (name.clone(), Align::Right));
    let mut table = Table::new(heads.into_iter().chain(names));
    for stage in 0..STAGES.len() {
        let count = results.first().map_or(0, |(_, accuracy)| accuracy.stages[stage].count);
        let cells = results.iter().map(|(_, accuracy)| {
            let hits = &accuracy.stages[stage];
            if hits.count == 0 { "-".to_owned() } else { format!("{:.1}", hits.percent()) }
        });
        table.row([discs(stage), count.to_string()].into_iter().chain(cells));
    }
    let total = results.first().map_or(0, |(_, accuracy)| accuracy.choices.count);
    let cells = results.iter().map(|(_, accuracy)| format!("{:.1}", accuracy.choices.percent()));
    table.row(["all".to_owned(), total.to_string()].into_iter().chain(cells));
    table
}

/// The plot of accuracy by stage, of choices and of pairs.
#[must_use]
pub fn stage_plot(results: &[(String, Accuracy)]) -> Plot {
    let mut plot =
        Plot::new("Move prediction by stage", "discs on the board after the move", "% of choices");
    for (name, accuracy) in results {
        let points = (0..STAGES.len()).filter(|&s| accuracy.stages[s].count > 0).map(|stage| {
            let hits = &accuracy.stages[stage];
            Point::with_error(f64::from(STAGES[stage].1), hits.percent(), hits.error())
        });
        plot = plot.series(Series::line(name.clone(), points));
    }
    plot.y_range(0.0, 100.0)
}

/// One page about move prediction.
#[must_use]
pub fn accuracy_page(results: &[(String, Accuracy)], about: &About) -> String {
    let mut page = Page::new("Move prediction");
    page.lead("How often each model's best move is the one that was played. Intervals are 95%, decisions taken as independent.");
    let section = page.section("Accuracy");
    section.table(&accuracy_table(results));
    section.paragraph(LEGEND);
    section.figure(
        &stage_plot(results),
        "Stages of four discs each; the first reaches up to 16 discs.",
    );
    section.table(&stage_table(results));
    about.add_footer(&mut page);
    page.to_html()
}
