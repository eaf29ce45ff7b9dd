//! Runarsson & Lucas (2014), Table III: round-robin league of all players at one ply. Tables IV and
//! V are parts of the same league.
//!
//! Measures Bradley-Terry ratings with mean 1600 and percentage scores.
//!
//! Departures: the sample of games; the openings; players that were not published; the solvers.

use super::{FeatureSet, TrainedPlayer, games, games_departure, trained_players};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_arena::ContestConfig;
use outflank_arena::accuracy::BinomialCount;
use outflank_arena::league::{League, LeagueReport, play_league};
use outflank_arena::ratings::RatingConfig;
use outflank_games::Side;
use outflank_games::othello::Othello;
use outflank_models::{OnePlyPolicy, embedded, files};
use outflank_players::{Greedy, PlayerFactory};
use outflank_report::BarChart;
use outflank_report::text::format_count;
use outflank_runs::{Journal, stop_requested};
use std::sync::Arc;

/// Published ratings and percentage scores, in the order of the table.
pub const PUBLISHED: [(&str, f64, f64); 17] = [
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

/// Published players: name in the table and file. Manning's two files are identified by their
/// scores against the other five: TCIAG1 matches the published Nash1, TCIAG2 matches Nash2.
const PUBLISHED_PLAYERS: [(&str, &str); 6] = [
    ("SJK-CTDL-N-Tuple", "SzubertJaskowskiKrawiec2013CTDL"),
    ("SJK-ETDL-N-Tuple", "SzubertJaskowskiKrawiec2013ETDL"),
    ("ETDL-N-Tuple", "Burrow2011ETDL"),
    ("Nash1-N-Tuple", "Manning2010TCIAG1"),
    ("Nash2-N-Tuple", "Manning2010TCIAG2"),
    ("published iPref-N-Tuple", "RunnarsonLucas2014IPrefN"),
];

/// Plays the league of our trained players, the heuristic and the available published players. Also
/// returns the departures.
pub fn league(
    context: &ExperimentContext,
) -> Result<(League<Othello>, Vec<String>), ExperimentError> {
    let games = games(context, context.seed)?;
    let trained = trained_players(context, context.seed, &games, &FeatureSet::BOTH)?;
    let mut factories: Vec<PlayerFactory<Othello>> =
        trained.into_iter().map(trained_factory).collect();
    factories.push(greedy_factory("Heur-WPC", embedded::heuristic()));
    for (name, file) in PUBLISHED_PLAYERS {
        if let Some(path) = context.published_player(file) {
            factories.push(greedy_factory(name, files::load_network(&path)?.0));
        }
    }
    let (openings, description) = context.openings(Side::Black)?;
    let rounds = context.scale.choose(4, 1000, 1000).min(openings.len()) as u32;
    let config = ContestConfig {
        openings,
        rounds,
        seed: context.seed,
        threads: context.threads,
        remote: None,
    };
    (context.log)("playing the league");
    let journal =
        Journal::open(&context.file("games.tsv")).map_err(outflank_arena::ContestError::from)?;
    let league = play_league(&factories, &config, Some(journal), |_, _| true)?;
    if !league.complete || stop_requested() {
        return Err(ExperimentError::Stopped);
    }
    let departures = vec![
        games_departure(&games),
        format!("Games start from {description}. The paper's text says depth 6; its file contains positions after 7 plies, and its results match with Black to move."),
        "The weights of Coev-WPC were not published. Nash1 and Nash2 are assumed to be the files Manning2010TCIAG1 and Manning2010TCIAG2, whose scores against the other published players match the paper. The published iPref-N-Tuple plays in addition to ours.".to_owned(),
        super::SOLVERS_DEPARTURE.to_owned(),
    ];
    Ok((league, departures))
}

fn trained_factory(player: TrainedPlayer) -> PlayerFactory<Othello> {
    greedy_factory(&player.name(), player.network)
}

/// Returns the factory of a network that plays at one ply.
fn greedy_factory(name: &str, network: outflank_models::NTupleNetwork) -> PlayerFactory<Othello> {
    let policy = Arc::new(OnePlyPolicy(network));
    PlayerFactory::new(name, move || Ok(Box::new(Greedy::new(policy.clone()))))
}

/// Adds ratings and scores to a report.
pub(super) fn add_standings(
    report: &mut Report,
    league: &LeagueReport,
    published: &[(&str, f64, f64)],
) {
    for player in &league.players {
        let paper = published.iter().find(|(name, ..)| *name == player.name);
        report
            .add_cell(
                &player.name,
                "rating",
                paper.map(|p| p.1),
                Some(player.rating),
                Some(player.half_width),
            )
            .decimals(0, 0);
        // Binomial, as if no game were drawn.
        let error = BinomialCount::from_percent(player.percent, player.games).half_width();
        let percent = Some(player.percent);
        report.add_cell(&player.name, "% score", paper.map(|p| p.2), percent, Some(error));
    }
    for (name, rating, percent) in published {
        if !league.players.iter().any(|player| player.name == *name) {
            report.add_cell(*name, "rating", Some(*rating), None, None).decimals(0, 0);
            report.add_cell(*name, "% score", Some(*percent), None, None);
        }
    }
    let names: Vec<&str> = league.players.iter().map(|player| player.name.as_str()).collect();
    let paper_of = |name: &str| published.iter().find(|(other, ..)| *other == name);
    let bars = BarChart::new("Ratings", "rating, 95% confidence intervals", names.clone())
        .series("ours", league.players.iter().map(|player| (player.rating, player.half_width)))
        .series("paper", names.iter().map(|name| (paper_of(name).map_or(f64::NAN, |p| p.1), 0.0)))
        .decimals(0)
        .dots();
    report.figures.push((
        "ratings".to_owned(),
        Box::new(bars),
        "The mean rating is 1600.".to_owned(),
    ));
}

/// The experiment `preference/table3`.
pub(crate) struct Table3;

impl Experiment for Table3 {
    fn name(&self) -> &'static str {
        "preference/table3"
    }

    fn about(&self) -> &'static str {
        "league of all players: ratings and scores"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &DataFolder::ALL
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let (league, departures) = league(context)?;
        let table = league.report(&RatingConfig::default())?;
        let lead = format!(
            "Round robin of {} players at one ply, {} games per player; Bradley-Terry ratings.",
            table.players.len(),
            format_count(table.players.first().map_or(0, |player| player.games))
        );
        let mut report =
            Report::new(self.name(), context.scale, "Runarsson & Lucas (2014), Table III", lead);
        add_standings(&mut report, &table, &PUBLISHED);
        report.departures = departures;
        for other in ["Pref-N-Tuple", "MM-N-Tuple", "Classify-N-Tuple", "LSTD-N-Tuple"] {
            head_to_head(&mut report, &table, "iPref-N-Tuple", other);
        }
        Ok(report.into())
    }
}

/// Adds the result between two players to the findings.
pub(super) fn head_to_head(report: &mut Report, table: &LeagueReport, a: &str, b: &str) {
    let index = |name: &str| table.players.iter().position(|player| player.name == name);
    if let (Some(row), Some(column)) = (index(a), index(b)) {
        let (won, lost) = (table.cross_table[row][column], table.cross_table[column][row]);
        let verdict = if won > lost { "more" } else { "not more" };
        report
            .findings
            .push(format!("{a} scores {verdict} points than {b} in their games: {won} to {lost}."));
    }
}
