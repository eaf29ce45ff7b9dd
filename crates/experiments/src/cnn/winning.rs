//! Networks as players (section VI): from the 1,000 openings, White to move, both colours.

use super::school::School;
use super::{Figure, Task, error_of};
use crate::Report;
use crate::lab::ExperimentError;
use outflank_arena::{Terms, contest};
use outflank_games::Side;
use outflank_games::othello::Othello;
use outflank_learners::cnn::Predictor;
use outflank_models::embedded;
use outflank_players::Entry;
use outflank_players::roster::{RosterError, entry, policy_entry};
use outflank_runs::{files, stop_requested, toml_fault};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

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

/// The strongest published player at one ply, a fourteenth opponent.
pub const COCMAES: &str = "JaskowskiSzubert2015CoCMAES-4+2x2";

/// The best preference learner among the thirteen.
pub const IPREF_N: &str = "RunnarsonLucas2014IPrefN";

/// The players that stand in for the thirteen where there is no data folder.
const STAND_INS: [&str; 2] = ["heuristic", "yoshioka"];

/// Points in per cent, and of how many games.
pub type Won = Figure;

/// What is known of a network's games.
#[derive(Default, Serialize, Deserialize)]
struct Known {
    won: BTreeMap<String, Won>,
    /// Of games with the embedded champion, which one it was; older files do not say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    champion: BTreeMap<String, String>,
}

/// Which champion this program has: the beginning of its file's checksum.
fn champion() -> &'static str {
    static CHAMPION: OnceLock<String> = OnceLock::new();
    CHAMPION.get_or_init(|| files::checksum(embedded::CHAMPION_FILE)[..16].to_owned())
}

/// Our search at a depth: as Edax's levels, exact from twice as many empty squares.
pub fn search(depth: u32) -> String {
    format!("champion@{depth}e{}", 2 * depth)
}

/// Edax at a level, if the user named its command.
pub fn edax(school: &School<'_>, level: u32) -> Option<String> {
    let command = school.lab().edax.as_ref()?;
    Some(format!("{command}?level={level}&name=Edax-{level}"))
}

/// Those against whom a mean is taken: the thirteen, those of them whose files are there, or players that
/// need no data folder.
pub struct Suite {
    /// The players as on the command line.
    players: Vec<String>,
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
    pub fn cell(&self, report: &mut Report, row: &str, column: &str, paper: Option<f64>, won: Won) {
        let (ours, error) = (Some(won.0), Some(error_of(won.0, won.1)));
        if self.is_whole() {
            report.cell(row, column, paper, ours, error);
            return;
        }
        if paper.is_some() {
            report.cell(row, column, paper, None, None);
        }
        let own = match column == THIRTEEN {
            true => self.column(),
            false => format!("{column}, {}", self.column()),
        };
        report.cell(row, own, None, ours, error);
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

/// A published player, if it is there.
pub fn published(school: &School<'_>, name: &str) -> Option<String> {
    school.lab().published(name).map(|path| path.display().to_string())
}

/// A network's, or a bag's, player and what was found out about it.
pub struct Contender<'a> {
    school: &'a School<'a>,
    tasks: Vec<Task>,
    predictor: Option<Arc<Predictor>>,
    known: Known,
}

impl<'a> Contender<'a> {
    /// The player of these networks together.
    pub fn new(school: &'a School<'a>, tasks: &[Task]) -> Result<Contender<'a>, ExperimentError> {
        for &task in tasks {
            // Should it be taught anew, its games go.
            school.study(task)?;
        }
        let mut contender =
            Contender { school, tasks: tasks.to_vec(), predictor: None, known: Known::default() };
        let path = contender.path();
        if path.is_file() {
            let bytes = files::read(&path, 1 << 20)?;
            let text = String::from_utf8_lossy(&bytes);
            contender.known = toml::from_str(&text).map_err(|error| {
                let (shown, fault) = (path.display(), toml_fault(&text, &error));
                ExperimentError::Learn(format!("{shown}: {fault}; delete it to play anew"))
            })?;
        }
        Ok(contender)
    }

    fn path(&self) -> std::path::PathBuf {
        let first = self.tasks.first().copied().unwrap_or(Task::new("conv8-bn"));
        self.school.folder(first).join(format!("won-{}.toml", self.tasks.len()))
    }

    /// The model of the player.
    pub fn predictor(&mut self) -> Result<Arc<Predictor>, ExperimentError> {
        if let Some(predictor) = &self.predictor {
            return Ok(predictor.clone());
        }
        let predictor = self.school.predictor(&self.tasks)?;
        Ok(self.predictor.insert(predictor).clone())
    }

    /// Its points against a player. In the moves from `stage.0` to `stage.1` it is replaced by another
    /// player, if so wished (section VI-E).
    pub fn against(
        &mut self,
        opponent: &str,
        stage: Option<(u32, u32, &str)>,
    ) -> Result<Won, ExperimentError> {
        let (lab, rounds) = (self.school.lab(), self.school.size().rounds);
        let name = Path::new(opponent).file_stem().unwrap_or_default().to_string_lossy();
        let name = if opponent.contains('?') { opponent.to_owned() } else { name.into_owned() };
        let key = match stage {
            Some((from, to, other)) => format!("{name}, {from}-{to} by {other}, {rounds} rounds"),
            None => format!("{name}, {rounds} rounds"),
        };
        let players = [Some(opponent), stage.map(|(_, _, other)| other)];
        let with_champion = players.into_iter().flatten().any(|name| name.starts_with("champion"));
        let is_other = |then: &String| with_champion && then != champion();
        if let Some(&won) = self.known.won.get(&key) {
            if !self.known.champion.get(&key).is_some_and(is_other) {
                return Ok(won);
            }
            (lab.say)(&format!("{key}: that was another champion; its games are played again"));
        }
        (lab.say)(&format!("playing against {key}"));
        let predictor = self.predictor()?;
        let mut own: Entry<Othello> = policy_entry("network", predictor.clone(), 0.0);
        if let Some((from, to, other)) = stage {
            let (inner, other) = (own.clone(), entry::<Othello>(other)?);
            own = own.made_by(&other.clone(), move || {
                let staged = outflank_players::Staged::new(inner.make()?, other.make()?, from, to);
                Ok(Box::new(staged))
            });
        }
        let entries = [own, entry::<Othello>(opponent)?];
        for entry in &entries {
            entry.make().and_then(|mut player| player.begin()).map_err(RosterError::from)?;
        }
        let (openings, _) = lab.openings(Side::White)?;
        let terms =
            Terms { openings, rounds, seed: lab.seed, threads: lab.threads, elsewhere: None };
        let (mut points, mut games) = (0u64, 0u64);
        let mut fault = None;
        let complete = contest(&entries, &[(0, 1)], &terms, None, |played, _| {
            games += played.len() as u64;
            points += played.iter().map(|game| u64::from(game.half_points_of(0))).sum::<u64>();
            let failed = played.iter().find_map(|game| game.played.fault.as_ref());
            fault = failed.map(|(_, what)| what.clone());
            fault.is_none()
        })?;
        if let Some(what) = fault {
            // Who fails loses the game, but that says nothing about how well the other plays.
            let said = format!("a game against {name} broke off: {what}; none of its games count");
            return Err(ExperimentError::Learn(said));
        }
        predictor.trouble().map_err(|error| ExperimentError::Learn(error.to_string()))?;
        if !complete || stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        let won = (50.0 * points as f64 / games.max(1) as f64, games);
        if with_champion {
            self.known.champion.insert(key.clone(), champion().to_owned());
        }
        self.known.won.insert(key, won);
        let text =
            toml::to_string(&self.known).map_err(|e| ExperimentError::Learn(e.to_string()))?;
        files::write(&self.path(), text.as_bytes())?;
        Ok(won)
    }

    /// Its mean against these.
    pub fn against_all(&mut self, suite: &Suite) -> Result<Won, ExperimentError> {
        let (mut sum, mut games, mut count) = (0.0, 0, 0);
        for opponent in &suite.players {
            let won = self.against(opponent, None)?;
            (sum, games, count) = (sum + won.0, games + won.1, count + 1);
        }
        Ok((sum / f64::from(count.max(1)), games))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Lab, Scale};
    use outflank_learners::cnn::OnCpu;

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
            device: Box::new(OnCpu),
            edax: None,
            say: Box::new(|_| {}),
        };
        let school = School::new(&lab);
        let cells = |suite: &Suite| {
            let mut report = Report::new("cnn/table7", lab.scale, "", String::new());
            suite.cell(&mut report, "net", THIRTEEN, Some(96.7), (97.7, 26_000));
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
