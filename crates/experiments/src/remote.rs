//! Trains the runs of an experiment on remote workers.
//!
//! A worker trains a run and returns the files of its folder. The experiment then resumes from
//! these files, as after a stop, so the results do not depend on where a run was trained.

use crate::context::{ExperimentContext, ExperimentError};
use crate::{EXPERIMENTS, ExperimentOutcome};
use outflank_runs::files::{self, create_folder};
use outflank_runs::{
    BlobStore, JobBatch, JobHandler, Verifier, WorkQueue, run_verified, sections, stop_requested,
    toml_error_message,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The kind of the jobs.
const KIND: &str = "runs";

/// Maximum size of a file of a run.
const MAX_FILE_BYTES: u64 = 1 << 34;

/// Maximum size of a file that a run needs.
const MAX_NEEDED_BYTES: u64 = 1 << 28;

/// Maximum size of a marker file.
const MAX_MARKER_BYTES: u64 = 1 << 24;

/// Remote workers that train the runs of an experiment.
#[derive(Clone, Debug)]
pub struct RemoteTraining {
    /// The queue of the workers.
    pub queue: Arc<dyn WorkQueue>,
    /// The name of the experiment.
    pub experiment: &'static str,
}

/// A request to train some runs of an experiment.
#[derive(Debug, Serialize, Deserialize)]
struct RunRequest {
    experiment: String,
    scale: String,
    /// As text, because TOML integers are signed.
    seed: String,
    /// Run numbers, in the order in which the experiment trains them.
    runs: Vec<usize>,
    /// Files that the runs need: names and checksums.
    #[serde(default)]
    files: Vec<(String, String)>,
}

/// The files of a run: relative names and contents.
type RunFiles = Vec<(String, Vec<u8>)>;

/// Trains all missing runs of an experiment on remote workers.
///
/// Marker files record which runs were received, from which worker, and their files. They are deleted once the experiment has read all
/// runs.
pub(crate) fn train(
    context: &ExperimentContext,
    remote: &RemoteTraining,
    count: usize,
    needed_files: &[String],
) -> Result<(), ExperimentError> {
    let markers = marker_folder(context);
    create_folder(&markers)?;
    let marker = |run: usize| markers.join(run.to_string());
    let mut blobs = Vec::new();
    for name in needed_files {
        let bytes = files::read(&context.file(name), MAX_FILE_BYTES)?;
        blobs.push((name.clone(), remote.queue.put(&bytes)?));
    }
    loop {
        let missing: Vec<usize> = (0..count).filter(|&run| !marker(run).exists()).collect();
        let forgers = train_missing(context, remote, count, &missing, &blobs)?;
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        if forgers.is_empty() {
            return Ok(());
        }
        for run in 0..count {
            delete_run_of(context, &marker(run), &forgers)?;
        }
    }
}

/// Trains runs on remote workers; returns the workers whose results differ from those of this
/// process.
fn train_missing(
    context: &ExperimentContext,
    remote: &RemoteTraining,
    count: usize,
    missing: &[usize],
    blobs: &[(String, String)],
) -> Result<Vec<String>, ExperimentError> {
    let encode = |range: Range<usize>| {
        let request = RunRequest {
            experiment: remote.experiment.to_owned(),
            scale: context.scale.name().to_owned(),
            seed: context.seed.to_string(),
            runs: missing[range].to_vec(),
            files: blobs.to_vec(),
        };
        toml::to_string(&request).unwrap_or_default().into_bytes()
    };
    let mut write_error = None;
    let mut received = count - missing.len();
    let mut write_run = |run: usize, all: RunFiles, worker: &str| {
        let mut marker = vec![worker.to_owned()];
        for (name, content) in all {
            let path = context.player_folder(&name);
            if let Some(folder) = path.parent() {
                create_folder(folder)?;
                // A killed process may have left a partial file.
                files::remove_temp_files(folder)?;
            }
            files::write(&path, &content)?;
            marker.push(name);
        }
        files::write(&marker_folder(context).join(run.to_string()), marker.join("\n").as_bytes())?;
        received += 1;
        (context.log)(&format!("trained {received} of {count} runs"));
        Ok(())
    };
    let batch = JobBatch {
        kind: KIND,
        run: &format!("{} {} {}", remote.experiment, context.scale.name(), context.seed),
        jobs: missing.len(),
    };
    let check = |job: usize, result: &RunFiles, _: &[usize]| {
        let folder = files::temporary_folder().map_err(|error| error.to_string())?;
        let handler = RunJobHandler::new(folder.path());
        let own = handler.execute(&encode(job..job + 1), &*remote.queue)?;
        match unpack_runs(1, &own)?.first() == Some(result) {
            true => Ok(()),
            false => {
                Err(format!("its files of run {} differ from those of this machine", missing[job]))
            }
        }
    };
    // A run may take hours, so that the first one of a worker is not always verified.
    let verifier = Verifier { unit_count: &|_| 1, check: &check, check_first: false };
    let decode = |range: Range<usize>, result: &[u8]| unpack_runs(range.len(), result);
    let accept = |job: usize, all: RunFiles, worker: &str| {
        let written = write_run(missing[job], all, worker);
        write_error = written.err().map(ExperimentError::File);
        write_error.is_none()
    };
    let forgers = run_verified(&*remote.queue, batch, &encode, decode, verifier, accept)?;
    write_error.map_or(Ok(forgers), Err)
}

/// Deletes the files of a run that one of these workers trained, and its marker.
fn delete_run_of(
    context: &ExperimentContext,
    marker: &Path,
    workers: &[String],
) -> Result<(), ExperimentError> {
    if !marker.exists() {
        return Ok(());
    }
    let content = files::read(marker, MAX_MARKER_BYTES)?;
    let content = String::from_utf8_lossy(&content).into_owned();
    let mut lines = content.lines();
    if lines.next().is_some_and(|worker| workers.iter().any(|forger| forger == worker)) {
        // The marker first, so that the run of a killed process is trained again.
        files::remove(marker)?;
        for name in lines {
            files::remove_if_exists(&context.player_folder(name))?;
        }
    }
    Ok(())
}

fn marker_folder(context: &ExperimentContext) -> PathBuf {
    context.folder.join("received")
}

/// Deletes the marker files.
pub(crate) fn delete_markers(context: &ExperimentContext) {
    let _ = std::fs::remove_dir_all(marker_folder(context));
}

/// Decodes the files of `runs` runs. Rejects names that point outside the folder.
fn unpack_runs(runs: usize, result: &[u8]) -> Result<Vec<RunFiles>, String> {
    let all = sections::unpack(result)?;
    if all.len() != runs {
        return Err(format!("{} runs instead of {runs}", all.len()));
    }
    let files = |bytes: &Vec<u8>| -> Result<RunFiles, String> {
        let mut items = sections::unpack(bytes)?.into_iter();
        let mut files = RunFiles::new();
        while let (Some(name), Some(content)) = (items.next(), items.next()) {
            let name = String::from_utf8(name).map_err(|_| "file name is not UTF-8".to_owned())?;
            let is_normal = |component| matches!(component, Component::Normal(_));
            if name.is_empty() || !Path::new(&name).components().all(is_normal) {
                return Err(format!("'{name}' is not a relative file name"));
            }
            files.push((name, content));
        }
        match files.is_empty() {
            true => Err("a run without files".to_owned()),
            false => Ok(files),
        }
    };
    all.iter().map(files).collect()
}

/// Trains runs of experiments for other processes.
pub struct RunJobHandler {
    folder: PathBuf,
}

impl RunJobHandler {
    /// Creates a handler that trains in `folder` and resumes unfinished runs that it finds there.
    #[must_use]
    pub fn new(folder: &Path) -> RunJobHandler {
        RunJobHandler { folder: folder.to_owned() }
    }

    fn train(
        &self,
        request: &RunRequest,
        run: usize,
        blobs: &dyn BlobStore,
    ) -> Result<Vec<u8>, String> {
        let name = &request.experiment;
        let experiment = EXPERIMENTS.iter().find(|experiment| experiment.name() == name);
        let experiment = experiment
            .filter(|experiment| experiment.supports_remote())
            .ok_or_else(|| format!("unknown experiment '{name}', or one without remote runs"))?;
        let seed = request.seed.parse().map_err(|_| format!("invalid seed '{}'", request.seed))?;
        let folder =
            self.folder.join(format!("{}-{}-{seed}-{run}", name.replace('/', "-"), request.scale));
        let mut context = ExperimentContext::new(request.scale.parse()?, seed, &folder);
        context.only_run = Some(run);
        for (name, sha256) in &request.files {
            let mut components = Path::new(name).components();
            let first_two = (components.next(), components.next());
            if !matches!(first_two, (Some(Component::Normal(_)), None)) {
                return Err(format!("'{name}' is not a file name"));
            }
            let bytes = blobs.get(sha256, MAX_NEEDED_BYTES).map_err(|error| error.to_string())?;
            create_folder(&folder).map_err(|error| error.to_string())?;
            files::write(&context.file(name), &bytes).map_err(|error| error.to_string())?;
        }
        match experiment.run(&context).map_err(|error| error.to_string())? {
            ExperimentOutcome::SingleRunTrained => {}
            ExperimentOutcome::Complete(_) | ExperimentOutcome::Restart => {
                return Err(format!("{name} has no remote runs"));
            }
        }
        let mut items = Vec::new();
        collect_files(&context.player_folder(""), "", &mut items)
            .map_err(|error| error.to_string())?;
        let _ = std::fs::remove_dir_all(folder);
        Ok(sections::pack(&items))
    }
}

/// Collects all files below a folder, sorted by name, as alternating names and contents.
fn collect_files(
    folder: &Path,
    prefix: &str,
    items: &mut Vec<Vec<u8>>,
) -> Result<(), files::FileError> {
    files::remove_temp_files(folder)?;
    let entries = std::fs::read_dir(folder).map_err(files::FileError::on("read", folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = format!("{prefix}{}", file_name.unwrap_or_default());
        if path.is_dir() {
            collect_files(&path, &format!("{name}/"), items)?;
        } else {
            items.push(name.into_bytes());
            items.push(files::read(&path, MAX_FILE_BYTES)?);
        }
    }
    Ok(())
}

impl JobHandler for RunJobHandler {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn execute(&self, task: &[u8], blobs: &dyn BlobStore) -> Result<Vec<u8>, String> {
        let text = std::str::from_utf8(task).map_err(|_| "the task is not UTF-8".to_owned())?;
        let request: RunRequest = toml::from_str(text)
            .map_err(|error| format!("invalid task: {}", toml_error_message(text, &error)))?;
        let runs = request.runs.iter().map(|&run| self.train(&request, run, blobs));
        Ok(sections::pack(&runs.collect::<Result<Vec<_>, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A forged run whose files cannot be removed counted as received.
    #[test]
    fn a_forged_run_that_cannot_be_deleted_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let context = ExperimentContext::new("smoke".parse().unwrap(), 1, folder.path());
        let marker = folder.path().join("received");
        files::write(&marker, b"forger\nforged").unwrap();
        // A folder is no file that can be removed.
        files::create_folder(&context.player_folder("forged")).unwrap();
        delete_run_of(&context, &marker, &["other".to_owned()]).unwrap();
        assert!(marker.exists());
        let error = delete_run_of(&context, &marker, &["forger".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("forged") && !marker.exists(), "{error}");
    }

    #[test]
    fn run_files_round_trip_and_unsafe_names_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        files::create_folder(&folder.path().join("a/models")).unwrap();
        files::write(&folder.path().join("a/curve.csv"), b"1,2").unwrap();
        files::write(&folder.path().join("a/models/001"), b"").unwrap();
        let mut items = Vec::new();
        collect_files(folder.path(), "", &mut items).unwrap();
        let unpacked = unpack_runs(1, &sections::pack(&[sections::pack(&items)])).unwrap();
        let expected = [("a/curve.csv", &b"1,2"[..]), ("a/models/001", b"")];
        let expected = expected.map(|(name, content)| (name.to_owned(), content.to_vec()));
        assert_eq!(unpacked, [expected]);
        for name in ["../x", "/x", "a/../../x", ""] {
            let bad = sections::pack(&[sections::pack(&[name.as_bytes(), b"content"])]);
            assert!(unpack_runs(1, &bad).is_err(), "{name}");
        }
        assert!(unpack_runs(1, b"garbage").is_err());
        assert!(unpack_runs(2, &sections::pack(&[sections::pack(&items)])).is_err());
        assert!(unpack_runs(1, &sections::pack(&[sections::pack::<&[u8]>(&[])])).is_err());
    }
}
