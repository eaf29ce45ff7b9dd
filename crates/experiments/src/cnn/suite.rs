//! The opponents against whom networks have a mean (section VI-A).

use super::school::School;
use super::tell;
use super::winning::{COCMAES, Won, published};
use crate::Report;

/// The thirteen opponents (section VI-A) by their files.
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

/// The players that stand in for the thirteen where there is no data folder.
const STAND_INS: [&str; 2] = ["heuristic", "yoshioka"];

/// Those against whom a mean is taken: the thirteen, those of them whose files are there, or players that
/// need no data folder.
pub struct Suite {
    /// The players as on the command line.
    pub players: Vec<String>,
    /// Their names.
    names: Vec<&'static str>,
}

impl Suite {
    /// The opponents that there are.
    pub fn of(school: &School<'_>) -> Suite {
        let found = OPPONENTS.into_iter().filter_map(|name| Some((published(school, name)?, name)));
        let (players, names): (Vec<String>, Vec<&str>) = found.unzip();
        match players.is_empty() {
            true => Suite { players: STAND_INS.map(str::to_owned).into(), names: STAND_INS.into() },
            false => Suite { players, names },
        }
    }

    /// Whether these are the paper's.
    pub fn is_whole(&self) -> bool {
        self.names == OPPONENTS
    }

    /// What the mean is against, for a column's head.
    pub fn column(&self) -> String {
        match self.names == STAND_INS {
            true => STAND_INS.join(" and "),
            false if self.is_whole() => THIRTEEN.to_owned(),
            false => format!("{} of the 13 opponents", self.names.len()),
        }
    }

    /// The same for a sentence.
    pub fn words(&self) -> String {
        match self.names == STAND_INS {
            true => format!("our two piece counters, {}", STAND_INS.join(" and ")),
            false if self.is_whole() => "the 13 published players".to_owned(),
            false => format!("{} of the 13 published players", self.names.len()),
        }
    }

    /// Adds a mean against them. The paper's stands beside it only where they are its opponents.
    pub fn cell(
        &self,
        report: &mut Report,
        row: &str,
        column: &str,
        paper: Option<f64>,
        won: Option<Won>,
    ) {
        if self.is_whole() {
            tell(report, row, column, paper, won);
            return;
        }
        if paper.is_some() {
            report.cell(row, column, paper, None, None);
        }
        let own = match column == THIRTEEN {
            true => self.column(),
            false => format!("{column}, {}", self.column()),
        };
        tell(report, row, own, None, won);
    }

    /// Who played, where it was the paper's opponents.
    pub fn departure(&self) -> Option<String> {
        self.is_whole().then(|| {
            format!(
                "The 13 opponents are {}. The paper counts {COCMAES} among its 13, whom it does not list; \
                 here it is a fourteenth.",
                self.names.join(", ")
            )
        })
    }

    /// Who played, where it was others.
    pub fn finding(&self) -> Option<String> {
        let missing: Vec<&str> =
            OPPONENTS.into_iter().filter(|name| !self.names.contains(name)).collect();
        let why = match self.names == STAND_INS {
            true => {
                "The published players are not there: name a data folder with --data.".to_owned()
            }
            false => {
                format!("Of the published players the data folder lacks {}.", missing.join(", "))
            }
        };
        (!missing.is_empty()).then(|| {
            format!(
                "{why} The mean is against {}, not against the paper's 13, so that there is no \
                 difference to its figure.",
                self.names.join(", ")
            )
        })
    }
}

/// The column of the mean against the paper's opponents.
pub const THIRTEEN: &str = "13 opponents";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Lab, Scale};
    use outflank_learners::cnn::CpuDevice;
    use outflank_runs::files;

    #[test]
    fn a_mean_says_whom_it_is_against() {
        let data = tempfile::tempdir().unwrap();
        files::create_folder(&data.path().join("players")).unwrap();
        let player = |name: &str| data.path().join(format!("players/{name}.player"));
        let lab = Lab {
            scale: Scale::Smoke,
            seed: 1,
            threads: 1,
            data: Some(data.path().to_owned()),
            folder: data.path().to_owned(),
            shared: None,
            part: None,
            elsewhere: None,
            device: Box::new(CpuDevice),
            edax: None,
            say: Box::new(|_| {}),
        };
        let school = School::new(&lab);
        let cells = |suite: &Suite| {
            let mut report = Report::new("cnn/table7", lab.scale, "", String::new());
            suite.cell(&mut report, "net", THIRTEEN, Some(96.7), Some((97.7, 26_000)));
            let cells = report.cells.into_iter();
            cells.map(|cell| (cell.column, cell.paper, cell.ours)).collect::<Vec<_>>()
        };
        let theirs = |ours| (THIRTEEN.to_owned(), Some(96.7), ours);

        let suite = Suite::of(&school);
        assert_eq!(suite.column(), "heuristic and yoshioka");
        assert_eq!(cells(&suite), [theirs(None), (suite.column(), None, Some(97.7))]);
        assert!(suite.finding().unwrap().contains("name a data folder with --data"));

        OPPONENTS.iter().for_each(|name| files::write(&player(name), b"").unwrap());
        let suite = Suite::of(&school);
        assert_eq!(cells(&suite), [theirs(Some(97.7))]);
        assert!(suite.finding().is_none() && suite.departure().unwrap().contains(COCMAES));

        for name in &OPPONENTS[4..6] {
            std::fs::remove_file(player(name)).unwrap();
        }
        let suite = Suite::of(&school);
        assert_eq!(suite.column(), "11 of the 13 opponents");
        assert_eq!(cells(&suite), [theirs(None), (suite.column(), None, Some(97.7))]);
        let said = suite.finding().unwrap();
        assert!(said.contains(&format!("lacks {}, {}.", OPPONENTS[4], OPPONENTS[5])), "{said}");
        assert!(suite.departure().is_none());
    }
}
