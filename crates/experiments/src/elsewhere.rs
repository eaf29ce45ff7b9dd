//! Runs of an exhibit that others learn.
//!
//! A run leaves a folder behind. Whoever learns it elsewhere sends that folder, and once it lies
//! here the exhibit takes it up as it would take up its own after a stop. So whatever is written
//! here is written by the same code in the same order, wherever the learning was done.

use crate::EXHIBITS;
use crate::lab::{ExperimentError, Lab};
use outflank_learners::cnn::CpuDevice;
use outflank_runs::files::{self, create_folder};
use outflank_runs::{WorkQueue, BlobStore, JobBatch, Ack, JobHandler, shards, stop_requested, toml_error_message};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// What this work is called in messages.
const KIND: &str = "runs";

/// No file of a run is larger than this.
const LARGEST: u64 = 1 << 34;

/// Others who learn runs of an exhibit.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// Who.
    pub crew: Arc<dyn WorkQueue>,
    /// Of which exhibit.
    pub exhibit: &'static str,
}

/// Some runs of an exhibit.
#[derive(Debug, Serialize, Deserialize)]
struct SentRuns {
    exhibit: String,
    scale: String,
    /// As text, since not every seed is a number of TOML.
    seed: String,
    /// Their numbers in the order in which the exhibit learns them.
    runs: Vec<usize>,
    /// Files that they need, by name, and the checksum of each.
    #[serde(default)]
    files: Vec<(String, String)>,
}

/// The files of a run: names with `/` between folders, and contents.
type Files = Vec<(String, Vec<u8>)>;

/// Has all runs of an exhibit learned that are not here yet. Marks say which are; they go when the
/// exhibit has taken up all of them.
pub(crate) fn learn(
    lab: &Lab,
    others: &Elsewhere,
    count: usize,
    sent: &[String],
) -> Result<(), ExperimentError> {
    let marks = marks(lab);
    create_folder(&marks)?;
    let mark = |run: usize| marks.join(run.to_string());
    let missing: Vec<usize> = (0..count).filter(|&run| !mark(run).exists()).collect();
    let mut shared = Vec::new();
    for name in sent.iter().filter(|_| !missing.is_empty()) {
        let bytes = files::read(&lab.keep(name), LARGEST)?;
        shared.push((name.clone(), others.crew.put(&bytes)?));
    }
    let describe = |range: Range<usize>| {
        let sent = SentRuns {
            exhibit: others.exhibit.to_owned(),
            scale: lab.scale.name().to_owned(),
            seed: lab.seed.to_string(),
            runs: missing[range].to_vec(),
            files: shared.clone(),
        };
        toml::to_string(&sent).unwrap_or_default().into_bytes()
    };
    let mut failed = None;
    let mut here = count - missing.len();
    let mut keep = |range: Range<usize>, all: Vec<Files>| {
        for (run, files) in missing[range].iter().zip(all) {
            for (name, content) in files {
                let path = lab.learned(&name);
                if let Some(folder) = path.parent() {
                    create_folder(folder)?;
                    // A process that was killed while it did this has left a part of a file.
                    files::remove_temp_files(folder)?;
                }
                files::write(&path, &content)?;
            }
            files::write(&mark(*run), b"")?;
            here += 1;
            (lab.say)(&format!("learned {here} of {count}"));
        }
        Ok(())
    };
    let batch = JobBatch {
        kind: KIND,
        run: &format!("{} {} {}", others.exhibit, lab.scale.name(), lab.seed),
        pieces: missing.len(),
    };
    others.crew.run(batch, &describe, &mut |range, answer| match unpack(range.len(), answer) {
        Err(reason) => Ack::Rejected(reason),
        Ok(all) => match keep(range, all) {
            Ok(()) => Ack::Accepted,
            Err(error) => {
                failed = Some(ExperimentError::File(error));
                Ack::Stop
            }
        },
    })?;
    match failed {
        Some(error) => Err(error),
        None if stop_requested() => Err(ExperimentError::Stopped),
        None => Ok(()),
    }
}

/// Where marks lie.
fn marks(lab: &Lab) -> PathBuf {
    lab.folder.join("received")
}

/// Removes the marks when they are needed no longer.
pub(crate) fn forget_marks(lab: &Lab) {
    let _ = std::fs::remove_dir_all(marks(lab));
}

/// The files of so many runs, all with names that lead nowhere else.
fn unpack(runs: usize, answer: &[u8]) -> Result<Vec<Files>, String> {
    let all = shards::unpack(answer)?;
    if all.len() != runs {
        return Err(format!("it has {} runs, not {runs}", all.len()));
    }
    let files = |bytes: &Vec<u8>| -> Result<Files, String> {
        let mut items = shards::unpack(bytes)?.into_iter();
        let mut files = Files::new();
        while let (Some(name), Some(content)) = (items.next(), items.next()) {
            let name = String::from_utf8(name).map_err(|_| "a name is not text".to_owned())?;
            let plain = |part| matches!(part, Component::Normal(_));
            if name.is_empty() || !Path::new(&name).components().all(plain) {
                return Err(format!("'{name}' is no name of a file of a run"));
            }
            files.push((name, content));
        }
        match files.is_empty() {
            true => Err("a run has no files".to_owned()),
            false => Ok(files),
        }
    };
    all.iter().map(files).collect()
}

/// Learns runs for others.
pub struct LearnsRuns {
    folder: PathBuf,
}

impl LearnsRuns {
    /// A worker that learns in this folder; what it has not finished it takes up again there.
    #[must_use]
    pub fn new(folder: &Path) -> LearnsRuns {
        LearnsRuns { folder: folder.to_owned() }
    }

    fn learn(&self, sent: &SentRuns, run: usize, library: &dyn BlobStore) -> Result<Vec<u8>, String> {
        let exhibit = EXHIBITS.iter().find(|exhibit| exhibit.name() == sent.exhibit);
        let exhibit = exhibit.filter(|exhibit| exhibit.spreads()).ok_or_else(|| {
            format!("there is no exhibit '{}' whose runs could be learned apart", sent.exhibit)
        })?;
        let seed = sent.seed.parse().map_err(|_| format!("'{}' is no seed", sent.seed))?;
        let name = format!("{}-{}-{seed}-{run}", sent.exhibit.replace('/', "-"), sent.scale);
        let folder = self.folder.join(name);
        let lab = Lab {
            scale: sent.scale.parse()?,
            seed,
            threads: 1,
            data: None,
            folder: folder.clone(),
            shared: None,
            part: Some(run),
            elsewhere: None,
            device: Box::new(CpuDevice),
            edax: None,
            say: Box::new(|_| {}),
        };
        for (name, sha256) in &sent.files {
            let mut parts = Path::new(name).components();
            if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
                return Err(format!("'{name}' is no name of a file"));
            }
            let bytes = library.get(sha256).map_err(|error| error.to_string())?;
            create_folder(&folder).map_err(|error| error.to_string())?;
            files::write(&lab.keep(name), &bytes).map_err(|error| error.to_string())?;
        }
        match exhibit.run(&lab) {
            Err(ExperimentError::Part) => {}
            Err(error) => return Err(error.to_string()),
            Ok(_) => return Err(format!("{} has no runs to learn apart", sent.exhibit)),
        }
        let mut items = Vec::new();
        collect(&lab.learned(""), "", &mut items).map_err(|error| error.to_string())?;
        let _ = std::fs::remove_dir_all(folder);
        Ok(shards::pack(&items))
    }
}

/// All files below a folder in the order of their names: name, content, name, content.
fn collect(folder: &Path, name: &str, items: &mut Vec<Vec<u8>>) -> Result<(), files::FileError> {
    files::remove_temp_files(folder)?;
    let entries = std::fs::read_dir(folder).map_err(files::FileError::on("read", folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let own = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = format!("{name}{}", own.unwrap_or_default());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), items)?;
        } else {
            items.push(name.into_bytes());
            items.push(files::read(&path, LARGEST)?);
        }
    }
    Ok(())
}

impl JobHandler for LearnsRuns {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn handle(&self, job: &[u8], library: &dyn BlobStore) -> Result<Vec<u8>, String> {
        let text = std::str::from_utf8(job).map_err(|_| "this is no job".to_owned())?;
        let sent: SentRuns = toml::from_str(text)
            .map_err(|e| format!("this is no job: {}", toml_error_message(text, &e)))?;
        let runs = sent.runs.iter().map(|&run| self.learn(&sent, run, library));
        Ok(shards::pack(&runs.collect::<Result<Vec<_>, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_and_none_leads_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        files::create_folder(&folder.path().join("a/models")).unwrap();
        files::write(&folder.path().join("a/curve.csv"), b"1,2").unwrap();
        files::write(&folder.path().join("a/models/001"), b"").unwrap();
        let mut items = Vec::new();
        collect(folder.path(), "", &mut items).unwrap();
        let found = unpack(1, &shards::pack(&[shards::pack(&items)])).unwrap();
        let wanted = [("a/curve.csv", &b"1,2"[..]), ("a/models/001", b"")];
        let wanted = wanted.map(|(name, content)| (name.to_owned(), content.to_vec()));
        assert_eq!(found, [wanted]);
        for name in ["../x", "/x", "a/../../x", ""] {
            let bad = shards::pack(&[shards::pack(&[name.as_bytes(), b"content"])]);
            assert!(unpack(1, &bad).is_err(), "{name}");
        }
        assert!(unpack(1, b"garbage").is_err());
        assert!(unpack(2, &shards::pack(&[shards::pack(&items)])).is_err());
        assert!(unpack(1, &shards::pack(&[shards::pack::<&[u8]>(&[])])).is_err());
    }
}
