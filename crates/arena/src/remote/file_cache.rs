//! A folder of the files that a worker received, with a size limit.

use super::RemoteFile;
use outflank_runs::BlobStore;
use outflank_runs::files::{checksum, create_folder, read, write};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Maximum size of a file that is sent to workers, in bytes.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 28;

/// A folder of received files, each in a subfolder named by its checksum. Evicts the least recently
/// used files when the total size exceeds the limit.
pub(super) struct FileCache {
    folder: PathBuf,
    max_bytes: u64,
}

/// A subfolder of the cache.
struct Entry {
    sha256: String,
    bytes: u64,
    last_used: SystemTime,
}

impl FileCache {
    pub(super) fn new(folder: &Path, max_bytes: u64) -> FileCache {
        FileCache { folder: folder.to_owned(), max_bytes }
    }

    /// Checks the names and sizes of all files of a contest, before any is fetched.
    pub(super) fn check<'a>(
        &self,
        files: impl Iterator<Item = &'a RemoteFile>,
    ) -> Result<(), String> {
        let mut total = 0u64;
        for file in files {
            let names = [Some(&file.name), file.model_file_name.as_ref()];
            if let Some(invalid) = names.into_iter().flatten().find(|name| !is_file_name(name)) {
                return Err(format!("invalid file name '{invalid}'"));
            }
            if !is_checksum(&file.sha256) {
                return Err(format!("invalid checksum '{}'", file.sha256));
            }
            if file.bytes > MAX_FILE_BYTES {
                return Err(format!(
                    "{} is {} MiB; workers accept files of at most {} MiB",
                    file.name,
                    file.bytes >> 20,
                    MAX_FILE_BYTES >> 20
                ));
            }
            total += file.bytes;
        }
        match total > self.max_bytes {
            false => Ok(()),
            true => Err(format!(
                "the files of this contest take {} MiB, but the cache of this worker is limited to \
                 {} MiB; start the worker with a larger --cache-size",
                total >> 20,
                self.max_bytes >> 20
            )),
        }
    }

    /// Returns the path of the local copy of a checked file; for a model in a run folder, of the
    /// folder. Fetches the file if there is no copy; `added` receives the checksums of new copies.
    pub(super) fn path(
        &self,
        file: &RemoteFile,
        blobs: &dyn BlobStore,
        added: &mut Vec<String>,
    ) -> Result<PathBuf, String> {
        // The path of the file or run folder, and of the file itself.
        let player_path = self.folder.join(&file.sha256).join(&file.name);
        let file_path = match &file.model_file_name {
            Some(model) => player_path.join(model),
            None => player_path.clone(),
        };
        // A copy from an earlier job is reused if its checksum matches.
        if read(&file_path, MAX_FILE_BYTES).is_ok_and(|bytes| checksum(&bytes) == file.sha256) {
            let opened = std::fs::File::options().write(true).open(&file_path);
            let _ = opened.and_then(|open| open.set_modified(SystemTime::now()));
            return Ok(player_path);
        }
        let bytes = blobs.get(&file.sha256, file.bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 != file.bytes {
            return Err(format!(
                "{} has {} bytes, but the contest document says {}",
                file.name,
                bytes.len(),
                file.bytes
            ));
        }
        added.push(file.sha256.clone());
        file_path.parent().map_or(Ok(()), create_folder).map_err(|error| error.to_string())?;
        write(&file_path, &bytes).map_err(|error| error.to_string())?;
        Ok(player_path)
    }

    /// Deletes the files with these checksums.
    pub(super) fn remove(&self, checksums: &[String]) {
        for sha256 in checksums.iter().filter(|sha256| is_checksum(sha256)) {
            let _ = std::fs::remove_dir_all(self.folder.join(sha256));
        }
    }

    /// Evicts the least recently used files until the total size is within the limit. Files in
    /// `needed` stay.
    pub(super) fn evict(&self, needed: &HashSet<String>) {
        let mut entries = self.entries();
        entries.sort_by_key(|entry| entry.last_used);
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        for entry in entries {
            if total <= self.max_bytes {
                return;
            }
            if !needed.contains(&entry.sha256) {
                total -= entry.bytes;
                self.remove(&[entry.sha256]);
            }
        }
    }

    /// Lists the subfolders that are named by a checksum. Other files in the folder are not touched.
    fn entries(&self) -> Vec<Entry> {
        let Ok(folders) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let entry = |folder: std::fs::DirEntry| {
            let sha256 = folder.file_name().into_string().ok().filter(|name| is_checksum(name))?;
            let mut entry = Entry { sha256, bytes: 0, last_used: SystemTime::UNIX_EPOCH };
            add_files(&folder.path(), &mut entry, 0);
            Some(entry)
        };
        folders.flatten().filter_map(entry).collect()
    }
}

/// Adds the size of all files in a folder to an entry, and updates the time of its last use.
fn add_files(folder: &Path, entry: &mut Entry, depth: usize) {
    // FILE, or FOLDER/FILE for a model in a run folder.
    if depth > 2 {
        return;
    }
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = file.metadata() else { continue };
        if metadata.is_dir() {
            add_files(&file.path(), entry, depth + 1);
        } else {
            entry.bytes += metadata.len();
            entry.last_used =
                entry.last_used.max(metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        }
    }
}

/// Returns whether this is a file name without a folder.
fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}

/// Returns whether the text is a SHA-256 checksum in lowercase hex digits.
fn is_checksum(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::WorkQueueError;
    use std::time::Duration;

    /// A blob store with these contents.
    struct Blobs(Vec<Vec<u8>>);

    impl BlobStore for Blobs {
        fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
            Ok(checksum(bytes))
        }

        fn get(&self, sha256: &str, max_bytes: u64) -> Result<Vec<u8>, WorkQueueError> {
            let found = self.0.iter().find(|bytes| checksum(bytes) == sha256);
            let found = found.filter(|bytes| bytes.len() as u64 <= max_bytes);
            found.cloned().ok_or_else(|| WorkQueueError("missing or too large".to_owned()))
        }
    }

    fn file(content: &[u8]) -> RemoteFile {
        RemoteFile {
            given_path: "x".to_owned(),
            name: "model".to_owned(),
            model_file_name: None,
            sha256: checksum(content),
            bytes: content.len() as u64,
        }
    }

    #[test]
    fn the_cache_stays_within_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("notes"), vec![0; 5000]).unwrap();
        let cache = FileCache::new(folder.path(), 2500);
        let contents: Vec<Vec<u8>> = (0..4u8).map(|i| vec![i; 1000]).collect();
        let blobs = Blobs(contents.clone());
        let mut added = Vec::new();
        for content in &contents {
            let path = cache.path(&file(content), &blobs, &mut added).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), *content);
            // Each file is made older than the files that follow.
            let age = Duration::from_secs(100 - added.len() as u64);
            let open = std::fs::File::options().write(true).open(&path).unwrap();
            open.set_modified(SystemTime::now() - age).unwrap();
            cache.evict(&HashSet::from([checksum(&contents[0])]));
        }
        let mut left: Vec<String> = cache.entries().into_iter().map(|entry| entry.sha256).collect();
        let mut expected = [checksum(&contents[0]), checksum(&contents[3])];
        left.sort();
        expected.sort();
        assert_eq!(left, expected, "the needed and the newest file stay");
        assert!(folder.path().join("notes").exists());
        // A copy is used again without a fetch.
        let mut added = Vec::new();
        cache.path(&file(&contents[3]), &Blobs(Vec::new()), &mut added).unwrap();
        assert!(added.is_empty());
    }

    #[test]
    fn names_and_sizes_are_checked_before_a_file_is_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let cache = FileCache::new(folder.path(), 1 << 20);
        let valid = file(b"content");
        assert_eq!(cache.check([&valid].into_iter()), Ok(()));
        for (invalid, message_part) in [
            (RemoteFile { name: "../x".to_owned(), ..valid.clone() }, "file name"),
            (RemoteFile { model_file_name: Some("a/b".to_owned()), ..valid.clone() }, "file name"),
            (RemoteFile { sha256: "../../etc".to_owned(), ..valid.clone() }, "checksum"),
            (RemoteFile { bytes: 600 << 20, ..valid.clone() }, "at most 256 MiB"),
            (RemoteFile { bytes: 2 << 20, ..valid.clone() }, "--cache-size"),
        ] {
            let error = cache.check([&invalid].into_iter()).unwrap_err();
            assert!(error.contains(message_part), "{error}");
        }
        // The stated size limits the transfer.
        let understated = RemoteFile { bytes: 3, ..valid };
        let fetched = cache.path(&understated, &Blobs(vec![b"content".to_vec()]), &mut Vec::new());
        assert!(fetched.is_err());
        assert!(cache.entries().is_empty());
    }
}
