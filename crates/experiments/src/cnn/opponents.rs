//! The suite of opponents of section VI-A.

use super::add_percentage;
use super::net_player::{COCMAES, Score, published_player};
use super::trained_nets::TrainedNetCache;
use crate::Report;

/// File names of the thirteen opponents (section VI-A).
pub const OPPONENTS: [&str; 13] = [
    "StandardHeuristic",
    "LucasRunarsson2006",
    "SzubertJaskowskiKrawiec2009",
    "SzubertJaskowskiKrawiec2011",
    "SzubertJaskowskiKrawiec2013CTDL",
    "SzubertJaskowskiKrawiec2013ETDL",
    "Burrow2011ETDL",
    "Manning2010Nash70",
    "Manning2010TCIAG2",
    "Manning2010TCIAG1",
    "Manning2010GECCO",
    "RunnarsonLucas2014IPref1",
    "RunnarsonLucas2014IPrefN",
];

/// Substitutes for the thirteen if there is no data folder.
const SUBSTITUTES: [&str; 2] = ["heuristic", "yoshioka"];

/// The opponents over which scores are averaged: the paper's thirteen, those of them that are
/// available, or substitutes that need no data folder.
pub struct OpponentSuite {
    /// Player specifications.
    pub players: Vec<String>,
    /// Their names.
    names: Vec<&'static str>,
}

impl OpponentSuite {
    /// Collects the available opponents.
    pub fn new(nets: &TrainedNetCache<'_>) -> OpponentSuite {
        let available =
            OPPONENTS.into_iter().filter_map(|name| Some((published_player(nets, name)?, name)));
        let (players, names): (Vec<String>, Vec<&str>) = available.unzip();
        match players.is_empty() {
            true => OpponentSuite {
                players: SUBSTITUTES.map(str::to_owned).into(),
                names: SUBSTITUTES.into(),
            },
            false => OpponentSuite { players, names },
        }
    }

    /// Returns whether these are the paper's thirteen.
    pub fn is_complete(&self) -> bool {
        self.names == OPPONENTS
    }

    /// Returns the head of the column of the mean score.
    pub fn column(&self) -> String {
        match self.names == SUBSTITUTES {
            true => SUBSTITUTES.join(" and "),
            false if self.is_complete() => THIRTEEN_OPPONENTS.to_owned(),
            false => format!("{} of the 13 opponents", self.names.len()),
        }
    }

    /// Describes the opponents for a sentence.
    pub fn description(&self) -> String {
        match self.names == SUBSTITUTES {
            true => format!("our two weighted piece counters, {}", SUBSTITUTES.join(" and ")),
            false if self.is_complete() => "the 13 published players".to_owned(),
            false => format!("{} of the 13 published players", self.names.len()),
        }
    }

    /// Adds a mean score. It shares a cell with the published value only if the opponents are the
    /// same.
    pub fn add_score(
        &self,
        report: &mut Report,
        row: &str,
        column: &str,
        paper: Option<f64>,
        score: Option<Score>,
    ) {
        if self.is_complete() {
            add_percentage(report, row, column, paper, score);
            return;
        }
        if paper.is_some() {
            report.add_cell(row, column, paper, None, None);
        }
        let own = match column == THIRTEEN_OPPONENTS {
            true => self.column(),
            false => format!("{column}, {}", self.column()),
        };
        add_percentage(report, row, own, None, score);
    }

    /// Returns the departure about the opponents, if the suite is complete.
    pub fn departure(&self) -> Option<String> {
        self.is_complete().then(|| {
            format!(
                "The 13 opponents are {}. The paper does not list its 13 opponents, but counts {COCMAES} \
                 among them; here it is an additional opponent.",
                self.names.join(", ")
            )
        })
    }

    /// Returns the finding about missing opponents.
    pub fn finding(&self) -> Option<String> {
        let missing: Vec<&str> =
            OPPONENTS.into_iter().filter(|name| !self.names.contains(name)).collect();
        let why = match self.names == SUBSTITUTES {
            true => "The published players are missing: give a data folder with --data.".to_owned(),
            false => {
                format!("The data folder lacks these published players: {}.", missing.join(", "))
            }
        };
        (!missing.is_empty()).then(|| {
            format!(
                "{why} The mean is against {}, not against the paper's 13 opponents, so no difference to \
                 the published figure is shown.",
                self.names.join(", ")
            )
        })
    }
}

/// Head of the column of the mean score against the paper's opponents.
pub const THIRTEEN_OPPONENTS: &str = "13 opponents";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{ExperimentContext, Scale};
    use outflank_runs::files;

    #[test]
    fn mean_scores_name_the_opponents() {
        let data = tempfile::tempdir().unwrap();
        files::create_folder(&data.path().join("players")).unwrap();
        let player = |name: &str| data.path().join(format!("players/{name}.player"));
        let context = ExperimentContext {
            data: Some(data.path().to_owned()),
            ..ExperimentContext::new(Scale::Smoke, 1, data.path())
        };
        let nets = TrainedNetCache::new(&context);
        let cells = |suite: &OpponentSuite| {
            let mut report = Report::new("cnn/table7", context.scale, "", String::new());
            suite.add_score(
                &mut report,
                "net",
                THIRTEEN_OPPONENTS,
                Some(96.7),
                Some((97.7, 26_000)),
            );
            let cells = report.cells.into_iter();
            cells.map(|cell| (cell.column, cell.paper, cell.ours)).collect::<Vec<_>>()
        };
        let published = |ours| (THIRTEEN_OPPONENTS.to_owned(), Some(96.7), ours);

        let suite = OpponentSuite::new(&nets);
        assert_eq!(suite.column(), "heuristic and yoshioka");
        assert_eq!(cells(&suite), [published(None), (suite.column(), None, Some(97.7))]);
        assert!(suite.finding().unwrap().contains("give a data folder with --data"));

        OPPONENTS.iter().for_each(|name| files::write(&player(name), b"").unwrap());
        let suite = OpponentSuite::new(&nets);
        assert_eq!(cells(&suite), [published(Some(97.7))]);
        assert!(suite.finding().is_none() && suite.departure().unwrap().contains(COCMAES));

        for name in &OPPONENTS[4..6] {
            std::fs::remove_file(player(name)).unwrap();
        }
        let suite = OpponentSuite::new(&nets);
        assert_eq!(suite.column(), "11 of the 13 opponents");
        assert_eq!(cells(&suite), [published(None), (suite.column(), None, Some(97.7))]);
        let text = suite.finding().unwrap();
        let missing = format!("players: {}, {}.", OPPONENTS[4], OPPONENTS[5]);
        assert!(text.contains(&missing), "{text}");
        assert!(suite.departure().is_none());
    }
}
