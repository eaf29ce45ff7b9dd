//! Runarsson & Lucas (2014), Table IV: league of the seven strongest N-tuple players, with the
//! cross table. Departures as in [`table3`](super::table3).

use super::table3::{add_standings, league};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_arena::accuracy::BinomialCount;
use outflank_arena::league::{League, LeagueReport};
use outflank_arena::ratings::RatingConfig;
use outflank_games::othello::Othello;

/// Published ratings and percentage scores.
const STANDINGS: [(&str, f64, f64); 7] = [
    ("iPref-N-Tuple", 1683.0, 63.5),
    ("SJK-CTDL-N-Tuple", 1644.0, 57.2),
    ("Nash1-N-Tuple", 1599.0, 49.9),
    ("ETDL-N-Tuple", 1588.0, 48.2),
    ("Nash2-N-Tuple", 1583.0, 47.3),
    ("Pref-N-Tuple", 1556.0, 42.7),
    ("SJK-ETDL-N-Tuple", 1546.0, 41.1),
];

/// Published points of the row against the column, of 2,000.
const POINTS: [[f64; 7]; 7] = [
    [0.0, 1134.5, 1286.5, 1245.5, 1337.5, 1248.0, 1372.0],
    [865.5, 0.0, 1031.0, 1219.0, 1111.5, 1293.5, 1349.0],
    [713.5, 969.0, 0.0, 1044.5, 1057.5, 995.0, 1212.0],
    [754.5, 781.0, 955.5, 0.0, 940.5, 1164.0, 1184.5],
    [662.5, 888.5, 942.5, 1059.5, 0.0, 1011.5, 1107.0],
    [752.0, 706.5, 1005.0, 836.0, 988.5, 0.0, 840.0],
    [628.0, 651.0, 788.0, 815.5, 893.0, 1160.0, 0.0],
];

/// The experiment `preference/table4`.
pub(crate) struct Table4;

impl Experiment for Table4 {
    fn name(&self) -> &'static str {
        "preference/table4"
    }

    fn about(&self) -> &'static str {
        "league of the strongest N-tuple players, with cross table"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &DataFolder::ALL
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let title = "Runarsson & Lucas (2014), Table IV";
        let lead = "League of the strongest N-tuple players: points of the row player against the \
                    column player, of 2,000.";
        let mut report = Report::new(self.name(), context.scale, title, lead.to_owned());
        if let Some(table) = report_sub_league(context, &mut report, &STANDINGS, &POINTS)? {
            let leads = table.players.first().is_some_and(|best| best.name == "iPref-N-Tuple");
            let place = if leads { "first" } else { "not first" };
            report
                .findings
                .push(format!("iPref-N-Tuple is {place} in this league (paper: first)."));
        }
        Ok(report.into())
    }
}

/// Plays the league of Table III and reports on a subset of its players; returns `None` if fewer
/// than two of them are available.
pub(super) fn report_sub_league<const N: usize>(
    context: &ExperimentContext,
    report: &mut Report,
    standings: &[(&str, f64, f64); N],
    points: &[[f64; N]; N],
) -> Result<Option<LeagueReport>, ExperimentError> {
    let (league, departures) = league(context)?;
    report.departures = departures;
    let names = standings.map(|row| row.0);
    let Some(table) = sub_league(&league, &names)? else {
        let hint = "The published players are missing: give a data folder with --data.";
        report.findings.push(hint.to_owned());
        return Ok(None);
    };
    add_standings(report, &table, standings);
    add_cross_table(report, &table, &names, points);
    Ok(Some(table))
}

/// Rates the games of these players among themselves; `None` if fewer than two of them played.
fn sub_league(
    league: &League<Othello>,
    names: &[&str],
) -> Result<Option<LeagueReport>, ExperimentError> {
    let players: Vec<usize> =
        names.iter().filter_map(|name| league.names.iter().position(|n| n == name)).collect();
    if players.len() < 2 {
        return Ok(None);
    }
    Ok(Some(league.report_among(&players, &RatingConfig::default())?))
}

/// Adds a cross table, scaled to the paper's 2,000 games per pair.
fn add_cross_table<const N: usize>(
    report: &mut Report,
    table: &LeagueReport,
    names: &[&str],
    published: &[[f64; N]; N],
) {
    let index = |name: &str| table.players.iter().position(|player| player.name == name);
    for (row, a) in names.iter().enumerate() {
        for (column, b) in names.iter().enumerate().filter(|(column, _)| *column != row) {
            let ours = index(a).zip(index(b)).map(|(i, j)| {
                let (won, lost) = (table.cross_table[i][j], table.cross_table[j][i]);
                2000.0 * won / (won + lost)
            });
            // Binomial for 2,000 games; ignores the pairing of colors.
            let error = ours
                .map(|points| 20.0 * BinomialCount::from_percent(points / 20.0, 2000).half_width());
            report.add_cell(*a, *b, Some(published[row][column]), ours, error);
        }
    }
}
