//! `outflank bench`: speed compared with reference figures.

use crate::Outcome;
use crate::cli::BenchArgs;
use crate::output::{print, print_json, table_width};
use anyhow::Result;
use outflank_benchmarks::{BenchmarkRow, load_average};
use outflank_report::{Align, Table};
use serde_json::json;

/// Runs the benchmarks of one area, or all, and prints the results.
pub fn run(args: &BenchArgs) -> Result<Outcome> {
    let load = load_average();
    let rows = outflank_benchmarks::run(args.area.as_deref(), args.data.as_deref())?;
    if args.json {
        let mut rows = serde_json::to_value(&rows)?;
        for row in rows.as_array_mut().into_iter().flatten() {
            row["load"] = json!(load);
        }
        print_json(&json!({ "rows": rows }))?;
        return Ok(Outcome::Done);
    }
    print(&table(&rows).to_text_within(table_width()))?;
    if let Some(load) = load.filter(|load| *load > 0.5) {
        print(&format!(
            "warning: the load average was {load:.1} at the start: the machine was busy, so speeds may be too \
             low\n"
        ))?;
    }
    Ok(Outcome::Done)
}

fn table(rows: &[BenchmarkRow]) -> Table {
    let mut table = Table::new([
        ("area", Align::Left),
        ("benchmark", Align::Left),
        ("value", Align::Right),
        ("unit", Align::Left),
        ("ratio", Align::Right),
        ("reference", Align::Left),
    ]);
    for row in rows {
        let value = match row.value {
            v if v.is_nan() => "-".to_owned(),
            v if v >= 1e6 => format!("{:.1} M", v / 1e6),
            v if v >= 1e4 => format!("{v:.0}"),
            v => format!("{v:.3}"),
        };
        table.row([
            row.area.to_owned(),
            row.name.clone(),
            value,
            row.unit.to_owned(),
            row.ratio.map_or_else(|| "-".to_owned(), |r| format!("{r:.2}")),
            row.reference.clone(),
        ]);
    }
    table
}
