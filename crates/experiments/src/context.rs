//! The input of an experiment: scale, seed, data, device, folders and callbacks.

use crate::remote::RemoteTraining;
use outflank_games::othello::Othello;
use outflank_games::{Line, Side};
use outflank_learners::cnn::{CpuDevice, Device};
use outflank_records::{Record, Selection, embedded, read_games, read_openings};
use outflank_runs::{DataFile, files};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The size of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Seconds: tests the code; the values are meaningless.
    Smoke,
    /// Minutes to hours on one machine: shows the effects that the paper reports.
    Desk,
    /// The paper's size, or larger.
    Paper,
}

impl Scale {
    /// Returns the name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scale::Smoke => "smoke",
            Scale::Desk => "desk",
            Scale::Paper => "paper",
        }
    }

    /// Returns the argument for this scale.
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
            _ => Err(format!("unknown scale '{text}'. Use smoke, desk or paper.")),
        }
    }
}

/// A subfolder of the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFolder {
    /// The published openings.
    Openings,
    /// The published players.
    Players,
    /// The games of the WTHOR database.
    Wthor,
}

impl DataFolder {
    /// All subfolders, sorted by name.
    pub const ALL: [DataFolder; 3] = [DataFolder::Openings, DataFolder::Players, DataFolder::Wthor];

    /// Returns the folder's name.
    #[must_use]
    pub fn dir_name(self) -> &'static str {
        match self {
            DataFolder::Openings => "openings",
            DataFolder::Players => "players",
            DataFolder::Wthor => "wthor",
        }
    }

    /// Describes the folder's content.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            DataFolder::Openings => "the published openings",
            DataFolder::Players => "the published players",
            DataFolder::Wthor => "the games of the WTHOR database",
        }
    }
}

/// An error of an experiment.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// Games or openings cannot be read.
    #[error(transparent)]
    Read(#[from] outflank_records::ReadError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] files::FileError),
    /// A model cannot be read or written.
    #[error(transparent)]
    Model(#[from] outflank_models::files::ModelError),
    /// A player cannot be created.
    #[error(transparent)]
    Player(#[from] outflank_players::registry::RegistryError),
    /// Training or measuring failed.
    #[error("training failed: {0}")]
    Training(String),
    /// Games cannot be played.
    #[error(transparent)]
    Contest(#[from] outflank_arena::ContestError),
    /// A league cannot be rated.
    #[error(transparent)]
    League(#[from] outflank_arena::league::LeagueError),
    /// The remote workers cannot be used.
    #[error(transparent)]
    WorkQueue(#[from] outflank_runs::WorkQueueError),
    /// The user requested a stop.
    #[error("stopped")]
    Stopped,
}

impl ExperimentError {
    /// Creates a [`Training`](Self::Training) error.
    pub(crate) fn training(error: impl std::fmt::Display) -> ExperimentError {
        ExperimentError::Training(error.to_string())
    }
}

/// The input of an experiment.
pub struct ExperimentContext {
    /// The size of the experiment.
    pub scale: Scale,
    /// Random seed.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
    /// Data folder; without one the embedded games, openings and players are used.
    pub data: Option<PathBuf>,
    /// Run folder, which holds intermediate results for resuming.
    pub folder: PathBuf,
    /// Folder for trained players that several experiments share.
    pub cache: Option<PathBuf>,
    /// Number of the only run to train, without a report. Set on remote workers.
    pub only_run: Option<usize>,
    /// Remote workers that train the runs.
    pub remote: Option<RemoteTraining>,
    /// Device that trains and evaluates networks.
    pub device: Box<dyn Device>,
    /// Player specification of Edax, such as `nboard:edax -nboard`.
    pub edax: Option<String>,
    /// Receives progress messages.
    pub log: Box<dyn Fn(&str) + Sync>,
}

/// A sample of games, split into a training and a test set.
pub struct GameSample {
    /// Training games.
    pub train: Vec<Record<Othello>>,
    /// Test games.
    pub test: Vec<Record<Othello>>,
    /// Source of the games, for reports.
    pub source: String,
}

impl ExperimentContext {
    /// Creates a context with one thread on the CPU, without data folder, cache or messages.
    #[must_use]
    pub fn new(scale: Scale, seed: u64, folder: &Path) -> ExperimentContext {
        ExperimentContext {
            scale,
            seed,
            threads: 1,
            data: None,
            folder: folder.to_owned(),
            cache: None,
            only_run: None,
            remote: None,
            device: Box::new(CpuDevice),
            edax: None,
            log: Box::new(|_| {}),
        }
    }

    /// Samples games uniformly from the WTHOR database of the data folder, or from the embedded
    /// games if there is no data folder, and splits them by game.
    pub fn sample_games(
        &self,
        seed: u64,
        train: usize,
        test: usize,
    ) -> Result<GameSample, ExperimentError> {
        let selection = Selection { sample: Some(train + test), ..Selection::default() };
        let (records, source) = match self.data_folder(DataFolder::Wthor) {
            Some(wthor) => {
                let games = read_games(&[wthor], &selection, seed)?;
                (games.records, "the WTHOR database".to_owned())
            }
            None => {
                (selection.sample_from(embedded::games(), seed), "the embedded games".to_owned())
            }
        };
        let fraction = train as f64 / (train + test) as f64;
        let size = (records.len() as f64 * fraction).round() as usize;
        let sizes = [size, records.len() - size];
        let subsets = outflank_records::split_games(records.len(), seed, &sizes)
            .map_err(ExperimentError::training)?
            .subsets;
        let take = |games: &[usize]| games.iter().map(|&game| records[game].clone()).collect();
        Ok(GameSample { train: take(&subsets[0]), test: take(&subsets[1]), source })
    }

    /// Returns the 1,000 published league openings with `first` to move, or the embedded openings
    /// if there is no data folder, and a description of them.
    pub fn openings(
        &self,
        first: Side,
    ) -> Result<(Vec<Line<Othello>>, &'static str), ExperimentError> {
        match self.data_folder(DataFolder::Openings) {
            Some(openings) => {
                let path = openings.join("lucas_boards.txt");
                let description = match first {
                    Side::Black => "the 1,000 published openings, Black to move",
                    Side::White => "the 1,000 published openings, White to move",
                };
                Ok((read_openings(&path, Some(first))?, description))
            }
            None => Ok((embedded::openings(), "1,000 openings generated by our tree search")),
        }
    }

    /// Returns the file of a published player, if the data folder has it.
    #[must_use]
    pub fn published_player(&self, name: &str) -> Option<PathBuf> {
        let players = self.data_folder(DataFolder::Players)?;
        [name.to_owned() + ".player", name.to_owned() + ".wpc"]
            .iter()
            .map(|file| players.join(file))
            .find(|path| path.is_file())
    }

    /// Returns the path of a subfolder of the data folder.
    #[must_use]
    pub fn data_folder(&self, folder: DataFolder) -> Option<PathBuf> {
        self.data.as_ref().map(|data| data.join(folder.dir_name()))
    }

    /// Returns the path of a file in the run folder.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the folder of a trained player: in the cache, or in the run folder if there is no
    /// cache. The name identifies the player, so that experiments can share it.
    #[must_use]
    pub fn player_folder(&self, name: &str) -> PathBuf {
        self.cache.clone().unwrap_or_else(|| self.folder.join("runs")).join(name)
    }

    /// Lists the files of these subfolders of a data folder with their checksums, sorted by name.
    pub fn data_files(
        data: &Path,
        folders: &[DataFolder],
    ) -> Result<Vec<DataFile>, ExperimentError> {
        let mut all = Vec::new();
        for folder in DataFolder::ALL.into_iter().filter(|folder| folders.contains(folder)) {
            let folder = data.join(folder.dir_name());
            let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
                .map_err(files::FileError::on("read", &folder))?
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| path.is_file())
                .collect();
            paths.sort();
            for path in paths {
                let sha256 = files::checksum(&files::read(&path, 1 << 30)?);
                all.push(DataFile { file: path.display().to_string(), sha256 });
            }
        }
        Ok(all)
    }
}
