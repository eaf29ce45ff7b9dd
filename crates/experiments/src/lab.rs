//! What an experiment is given: how large it may be, the seed, the data, a folder to work in.

use crate::elsewhere::Elsewhere;
use outflank_games::othello::Othello;
use outflank_games::{Line, Side};
use outflank_learners::cnn::Device;
use outflank_records::{Record, Selection, embedded, read_games, read_openings};
use outflank_runs::{DataFile, files};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How large an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Seconds: does everything, proves nothing.
    Smoke,
    /// Minutes on a desk: shows what the paper shows.
    Desk,
    /// The paper's own size, or more.
    Paper,
}

impl Scale {
    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scale::Smoke => "smoke",
            Scale::Desk => "desk",
            Scale::Paper => "paper",
        }
    }

    /// One of three values.
    #[must_use]
    pub fn choose<T>(self, smoke: T, desk: T, paper: T) -> T {
        match self {
            Scale::Smoke => smoke,
            Scale::Desk => desk,
            Scale::Paper => paper,
        }
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        match text {
            "smoke" => Ok(Scale::Smoke),
            "desk" => Ok(Scale::Desk),
            "paper" => Ok(Scale::Paper),
            _ => Err(format!("'{text}' is not a scale; there are smoke, desk and paper")),
        }
    }
}

/// A folder of the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The published openings.
    Openings,
    /// The published players.
    Players,
    /// The games.
    Wthor,
}

impl Part {
    /// All of them, in the order of their names.
    pub const ALL: [Part; 3] = [Part::Openings, Part::Players, Part::Wthor];

    /// The folder's name.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Part::Openings => "openings",
            Part::Players => "players",
            Part::Wthor => "wthor",
        }
    }

    /// What lies there, in words.
    #[must_use]
    pub fn holds(self) -> &'static str {
        match self {
            Part::Openings => "the published openings",
            Part::Players => "the published players",
            Part::Wthor => "the games of the WTHOR base",
        }
    }
}

/// Why an experiment could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// Games or openings could not be read.
    #[error(transparent)]
    Read(#[from] outflank_records::ReadError),
    /// A file could not be written or read.
    #[error(transparent)]
    File(#[from] files::FileError),
    /// A model could not be written or read.
    #[error(transparent)]
    Model(#[from] outflank_models::files::ModelError),
    /// A player could not be had.
    #[error(transparent)]
    Player(#[from] outflank_players::registry::RegistryError),
    /// Learning failed.
    #[error("learning failed: {0}")]
    Learn(String),
    /// Games could not be played.
    #[error(transparent)]
    Contest(#[from] outflank_arena::ContestError),
    /// A league could not be rated.
    #[error(transparent)]
    League(#[from] outflank_arena::league::LeagueError),
    /// Others could not be had learn.
    #[error(transparent)]
    WorkQueue(#[from] outflank_runs::WorkQueueError),
    /// The one run that was asked for is learned; there is nothing to report.
    #[error("one run was learned")]
    Part,
    /// A network whose weights were missing was taught again and came to other figures than those that
    /// were already used; see [`make`](crate::make).
    #[error("a network was taught again and came to other figures; begin the exhibit anew")]
    Anew,
    /// The user asked to stop.
    #[error("stopped")]
    Stopped,
}

/// What an experiment works with.
pub struct Lab {
    /// How large it may be.
    pub scale: Scale,
    /// The seed of everything random.
    pub seed: u64,
    /// How many threads play.
    pub threads: usize,
    /// The data folder, if there is one.
    pub data: Option<PathBuf>,
    /// Where it may keep what takes long, to go on after a stop.
    pub folder: PathBuf,
    /// Where learned players are kept for several exhibits that need the same ones.
    pub shared: Option<PathBuf>,
    /// The number of the one run that is to be learned and nothing else: what is asked of those
    /// who learn for others.
    pub part: Option<usize>,
    /// Others who learn the runs.
    pub elsewhere: Option<Elsewhere>,
    /// Where networks learn and answer.
    pub device: Box<dyn Device>,
    /// Edax as a player, such as `nboard:edax -nboard`, if the user has it.
    pub edax: Option<String>,
    /// Tells the user how far it has come.
    pub say: Box<dyn Fn(&str) + Sync>,
}

/// Games to learn from and to measure on, and where they came from.
pub struct Games {
    /// To learn from.
    pub train: Vec<Record<Othello>>,
    /// To measure on.
    pub test: Vec<Record<Othello>>,
    /// In words.
    pub source: String,
}

impl Lab {
    /// Draws games uniformly from the data folder's WTHOR base, or from the embedded games when
    /// there is no data folder; no game is in both parts.
    pub fn games(&self, seed: u64, train: usize, test: usize) -> Result<Games, ExperimentError> {
        let selection = Selection { sample: Some(train + test), ..Selection::default() };
        let (records, source) = match self.part(Part::Wthor) {
            Some(wthor) => {
                let games = read_games(&[wthor], &selection, seed)?;
                (games.records, "the WTHOR base".to_owned())
            }
            None => (selection.draw(embedded::games(), seed), "the embedded games".to_owned()),
        };
        let share = train as f64 / (train + test) as f64;
        let size = (records.len() as f64 * share).round() as usize;
        let sizes = [size, records.len() - size];
        let parts = outflank_records::split_games(records.len(), seed, &sizes)
            .map_err(|error| ExperimentError::Learn(error.to_string()))?
            .parts;
        let take = |part: &[usize]| part.iter().map(|&game| records[game].clone()).collect();
        Ok(Games { train: take(&parts[0]), test: take(&parts[1]), source })
    }

    /// The 1,000 published league openings, this side to move, or the embedded ones without a data
    /// folder; and which.
    pub fn openings(
        &self,
        first: Side,
    ) -> Result<(Vec<Line<Othello>>, &'static str), ExperimentError> {
        match self.part(Part::Openings) {
            Some(openings) => {
                let path = openings.join("lucas_boards.txt");
                let which = match first {
                    Side::Black => "the 1,000 published openings, Black to move",
                    Side::White => "the 1,000 published openings, White to move",
                };
                Ok((read_openings(&path, Some(first))?, which))
            }
            None => Ok((embedded::openings(), "1,000 openings harvested by our own tree search")),
        }
    }

    /// The file of a published player, if the data folder has it.
    #[must_use]
    pub fn published(&self, name: &str) -> Option<PathBuf> {
        let players = self.part(Part::Players)?;
        [name.to_owned() + ".player", name.to_owned() + ".wpc"]
            .iter()
            .map(|file| players.join(file))
            .find(|path| path.is_file())
    }

    /// A folder of the data folder, if there is one.
    #[must_use]
    pub fn part(&self, part: Part) -> Option<PathBuf> {
        self.data.as_ref().map(|data| data.join(part.folder()))
    }

    /// A file in the folder for what takes long.
    #[must_use]
    pub fn keep(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A folder for a learned player; its name says everything that makes it what it is, so that
    /// exhibits may share it.
    #[must_use]
    pub fn learned(&self, name: &str) -> PathBuf {
        self.shared.clone().unwrap_or_else(|| self.folder.join("runs")).join(name)
    }

    /// The files of these parts of a data folder, with checksums, in the order of their names.
    pub fn files_of(data: &Path, parts: &[Part]) -> Result<Vec<DataFile>, ExperimentError> {
        let mut all = Vec::new();
        for part in Part::ALL.into_iter().filter(|part| parts.contains(part)) {
            let folder = data.join(part.folder());
            let mut names: Vec<PathBuf> = std::fs::read_dir(&folder)
                .map_err(files::FileError::on("read", &folder))?
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| path.is_file())
                .collect();
            names.sort();
            for path in names {
                let sha256 = files::checksum(&files::read(&path, 1 << 30)?);
                all.push(DataFile { file: path.display().to_string(), sha256 });
            }
        }
        Ok(all)
    }
}
