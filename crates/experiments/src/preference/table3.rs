//! Table III: the round-robin league of all players, and what Tables IV and V share with it.

use super::{FeatureSet, Learned, games, games_departure, players};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_arena::ContestConfig;
use outflank_arena::accuracy::Hits;
use outflank_arena::league::{League, LeagueReport, play_league};
use outflank_arena::ratings::RatingConfig;
use outflank_games::Side;
use outflank_games::othello::Othello;
use outflank_models::{Greedy as OnePly, embedded, files};
use outflank_players::{PlayerFactory, Greedy};
use outflank_report::BarChart;
use outflank_report::text::count;
use outflank_runs::{Journal, stop_requested};
use std::sync::Arc;

/// Printed ratings and percentages, in the order of the table.
pub const PRINTED: [(&str, f64, f64); 17] = [
    ("SJK-CTDL-N-Tuple", 1850.0, 78.0),
    ("iPref-N-Tuple", 1848.0, 77.8),
    ("ETDL-N-Tuple", 1803.0, 73.3),
    ("Nash1-N-Tuple", 1787.0, 71.6),
    ("Nash2-N-Tuple", 1765.0, 69.2),
    ("SJK-ETDL-N-Tuple", 1765.0, 69.1),
    ("Pref-N-Tuple", 1730.0, 65.3),
    ("Coev-WPC", 1597.0, 49.5),
    ("Heur-WPC", 1596.0, 49.4),
    ("MM-N-Tuple", 1573.0, 46.5),
    ("iPref-1-Tuple", 1499.0, 37.9),
    ("MM-1-Tuple", 1479.0, 35.5),
    ("Pref-1-Tuple", 1457.0, 33.1),
    ("Classify-N-Tuple", 1444.0, 31.6),
    ("Classify-1-Tuple", 1364.0, 23.4),
    ("LSTD-N-Tuple", 1348.0, 21.9),
    ("LSTD-1-Tuple", 1293.0, 17.1),
];

/// The published players by the names of the table. Manning's two are told by their scores: the
/// file TCIAG1 plays the other five as Nash1 is printed to, TCIAG2 as Nash2.
const PUBLISHED: [(&str, &str); 6] = [
    ("SJK-CTDL-N-Tuple", "SzubertJaskowskiKrawiec2013CTDL"),
    ("SJK-ETDL-N-Tuple", "SzubertJaskowskiKrawiec2013ETDL"),
    ("ETDL-N-Tuple", "Burrow2011ETDL"),
    ("Nash1-N-Tuple", "Manning2010TCIAG1"),
    ("Nash2-N-Tuple", "Manning2010TCIAG2"),
    ("published iPref-N-Tuple", "RunnarsonLucas2014IPrefN"),
];

/// Plays the league of our ten players, the published ones that there are and the heuristic.
pub fn league(lab: &Lab) -> Result<(League<Othello>, Vec<String>), ExperimentError> {
    let games = games(lab, lab.seed)?;
    let ten = players(lab, lab.seed, &games, &FeatureSet::BOTH)?;
    let mut entries: Vec<PlayerFactory<Othello>> = ten.into_iter().map(entry).collect();
    entries.push(greedy("Heur-WPC", embedded::heuristic()));
    for (name, file) in PUBLISHED {
        if let Some(path) = lab.published(file) {
            entries.push(greedy(name, files::load_network(&path)?.0));
        }
    }
    let (openings, which) = lab.openings(Side::Black)?;
    let rounds = lab.scale.choose(4, 1000, 1000).min(openings.len()) as u32;
    let terms = ContestConfig { openings, rounds, seed: lab.seed, threads: lab.threads, remote: None };
    (lab.say)("playing the league");
    let journal =
        Journal::open(&lab.keep("games.tsv")).map_err(outflank_arena::ContestError::from)?;
    let league = play_league(&entries, &terms, Some(journal), |_, _| {})?;
    if !league.complete || stop_requested() {
        return Err(ExperimentError::Stopped);
    }
    let departures = vec![
        games_departure(&games),
        format!("Games start from {which}; the paper's text says depth 6, its file holds positions after 7 plies, and its printed results come out with Black to move."),
        "Coev-WPC's weights were not published. Nash1 and Nash2 are taken to be the files Manning2010TCIAG1 and TCIAG2, whose scores against the other published players are the printed ones. The published iPref-N-Tuple plays beside ours.".to_owned(),
        super::SOLVERS.to_owned(),
    ];
    Ok((league, departures))
}

fn entry(learned: Learned) -> PlayerFactory<Othello> {
    greedy(&learned.name(), learned.network)
}

fn greedy(name: &str, network: outflank_models::NTupleNetwork) -> PlayerFactory<Othello> {
    let policy = Arc::new(OnePly(network));
    PlayerFactory::new(name, move || Ok(Box::new(Greedy::new(policy.clone()))))
}

/// Adds ratings and percentages to a report.
pub(super) fn fill(report: &mut Report, league: &LeagueReport, printed: &[(&str, f64, f64)]) {
    for player in &league.players {
        let paper = printed.iter().find(|(name, ..)| *name == player.name);
        report
            .cell(
                &player.name,
                "rating",
                paper.map(|p| p.1),
                Some(player.rating),
                Some(player.error),
            )
            .decimals(0, 0);
        // None of the games is taken to be drawn.
        let error = Hits::from_percent(player.percent, player.games).error();
        let percent = Some(player.percent);
        report.cell(&player.name, "% score", paper.map(|p| p.2), percent, Some(error));
    }
    for (name, rating, percent) in printed {
        if !league.players.iter().any(|player| player.name == *name) {
            report.cell(*name, "rating", Some(*rating), None, None).decimals(0, 0);
            report.cell(*name, "% score", Some(*percent), None, None);
        }
    }
    let names: Vec<&str> = league.players.iter().map(|player| player.name.as_str()).collect();
    let printed_of = |name: &str| printed.iter().find(|(other, ..)| *other == name);
    let bars = BarChart::new("Ratings", "rating, 95% intervals", names.clone())
        .series("ours", league.players.iter().map(|player| (player.rating, player.error)))
        .series("paper", names.iter().map(|name| (printed_of(name).map_or(f64::NAN, |p| p.1), 0.0)))
        .decimals(0)
        .dots();
    report.figures.push(("ratings".to_owned(), Box::new(bars), "Mean 1600.".to_owned()));
}

/// The experiment.
pub struct Table3;

impl Experiment for Table3 {
    fn name(&self) -> &'static str {
        "preference/table3"
    }

    fn about(&self) -> &'static str {
        "the league of all players: ratings and scores"
    }

    fn reads(&self) -> &'static [Part] {
        &Part::ALL
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let (league, departures) = league(lab)?;
        let table = league.report(&RatingConfig::default())?;
        let lead = format!(
            "A round robin of {} players at one ply, {} games for each; plain Bradley-Terry ratings.",
            table.players.len(),
            count(table.players.first().map_or(0, |player| player.games))
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 0, Table III", lead);
        fill(&mut report, &table, &PRINTED);
        report.departures = departures;
        for other in ["Pref-N-Tuple", "MM-N-Tuple", "Classify-N-Tuple", "LSTD-N-Tuple"] {
            head_to_head(&mut report, &table, "iPref-N-Tuple", other);
        }
        Ok(report)
    }
}

/// Says who won a meeting.
pub(super) fn head_to_head(report: &mut Report, table: &LeagueReport, a: &str, b: &str) {
    let place = |name: &str| table.players.iter().position(|player| player.name == name);
    if let (Some(row), Some(column)) = (place(a), place(b)) {
        let (won, lost) = (table.table[row][column], table.table[column][row]);
        let verdict = if won > lost { "beats" } else { "does not beat" };
        report.findings.push(format!("{a} {verdict} {b}: {won} to {lost}."));
    }
}
