//! The weights of networks that were taught: kept, found again, or learned again.
//!
//! Figures are small and travel without them, so a folder may say what a network came to and not have it.

use super::super::Task;
use super::plans::PLAN;
use super::{MODEL, RESULT, School, failed, write_json};
use crate::lab::ExperimentError;
use outflank_learners::cnn::{Checkpoint, Engine, TrainReport};
use outflank_models::embedded;
use outflank_models::files::{Origin, read_policy, write_policy};
use outflank_models::nets::{NetGraph, Weights};
use outflank_runs::files::{self, FileError};
use std::path::Path;

/// The folder of the network that is part of the program as `cnn`.
const EMBEDDED: &str = "conv8-bn-pieces-unique-s-example-6-passes-x4096-seed-1";

/// What begins the names of files in a network's folder that hold what was found out by its answers.
const FOUND: [&str; 2] = ["won-", "bag-of-"];

impl School<'_> {
    /// The file of an engine's weights.
    pub(super) fn model(
        &self,
        net: &NetGraph,
        engine: &mut dyn Engine,
        folder: &Path,
    ) -> Result<Vec<u8>, ExperimentError> {
        let origin = Origin {
            method: "cnn".to_owned(),
            seed: Some(self.lab.seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let state = engine.state().map_err(failed)?;
        write_policy(net, &state.weights, &origin, true).map_err(failed)
    }

    /// Keeps what a network came to, then its weights: those that are there belong to these figures. What
    /// was needed to go on learning goes last.
    pub(super) fn keep(
        &self,
        folder: &Path,
        taught: &TrainReport,
        model: &[u8],
    ) -> Result<(), ExperimentError> {
        write_json(&folder.join(RESULT), taught)?;
        files::write(&folder.join(MODEL), model)?;
        Checkpoint::remove_all(folder).map_err(failed)?;
        let _ = std::fs::remove_file(folder.join(PLAN));
        Ok(())
    }

    /// The network of a task, one of those that answer together, and its weights. Where they are missing
    /// it is taught again; should it come to other figures, all that was found out about the one before
    /// goes, and the exhibit begins anew. Where none is taught there is nothing to be had instead.
    pub(super) fn weights(
        &self,
        task: Task,
        together: &[Task],
    ) -> Result<Option<(NetGraph, Weights)>, ExperimentError> {
        let Some(before) = self.study(task)? else { return Ok(None) };
        let folder = self.folder(task);
        let path = folder.join(MODEL);
        if !path.is_file() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let found = embedded_as(&name);
            if found.is_some() || !self.lab.device.can_train() {
                return Ok(found);
            }
            (self.lab.say)(&format!("{name} has figures and no weights: teaching it again"));
            let (taught, model) = self.teach(task, &folder)?;
            let is_same = (&taught.tests, taught.learned) == (&before.tests, before.learned);
            if !is_same {
                // What several found out together lies with the first.
                for task in [Some(&task), together.first()].into_iter().flatten() {
                    forget(&self.folder(*task))?;
                }
            }
            self.keep(&folder, &taught, &model)?;
            if !is_same {
                (self.lab.say)(&format!("{name} came to other figures: what it did is done again"));
                return Err(ExperimentError::Anew);
            }
        }
        let bytes = files::read(&path, 1 << 30)?;
        let (net, weights, _) = read_policy(&bytes).map_err(|error| {
            failed(format!("{}: {error}; delete it to teach the network again", path.display()))
        })?;
        Ok(Some((net, weights)))
    }
}

/// The embedded network, if it is the one of this folder.
fn embedded_as(folder: &str) -> Option<(NetGraph, Weights)> {
    let deep = (folder == EMBEDDED).then(embedded::cnn)??;
    Some((deep.net().clone(), deep.weights().clone()))
}

/// Removes what was found out by a network's answers.
pub(super) fn forget(folder: &Path) -> Result<(), ExperimentError> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if FOUND.iter().any(|begin| name.starts_with(begin)) {
            std::fs::remove_file(&path).map_err(FileError::on("remove", &path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::table5::BEST;
    use super::*;
    use crate::lab::{Lab, Scale};
    use outflank_games::othello::Othello;
    use outflank_games::{Position, Side};
    use outflank_learners::cnn::{Device, EngineError, CachedOnly, CpuDevice, CnnConfig, TrainingSet};

    /// A device on which networks would be taught as on a graphics processor.
    struct Quick;

    impl Device for Quick {
        fn name(&self) -> &'static str {
            "quick"
        }

        fn is_accelerated(&self) -> bool {
            true
        }

        fn engine(&self, net: &NetGraph, plan: CnnConfig, s: TrainingSet) -> Result<Box<dyn Engine>, EngineError> {
            CpuDevice.engine(net, plan, s)
        }
    }

    #[test]
    fn the_best_network_is_part_of_the_program() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/cnn/learned");
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(EMBEDDED);
        files::create_folder(&own).unwrap();
        std::fs::copy(results.join(EMBEDDED).join(RESULT), own.join(RESULT)).unwrap();
        let (cnn, start) = (embedded::cnn().unwrap(), Othello::start());
        let mut words = Vec::new();
        cnn.net().input().words(start.board(), start.to_move() == Side::White, &mut words);
        let devices: [Box<dyn Device>; 2] = [Box::new(Quick), Box::new(CachedOnly)];
        for device in devices {
            let lab = Lab {
                scale: Scale::Desk,
                seed: 1,
                threads: 1,
                data: None,
                folder: folder.path().to_owned(),
                shared: Some(folder.path().to_owned()),
                part: None,
                elsewhere: None,
                device,
                edax: None,
                say: Box::new(|text| panic!("nothing is to be done: {text}")),
            };
            let school = School::new(&lab);
            assert_eq!(school.folder(BEST), own);
            let found = school.predictor(&[BEST]).unwrap().unwrap();
            let answers = found.logits(&words).unwrap();
            for (a, b) in answers.iter().zip(cnn.logits([start])) {
                assert!((a - b).abs() < 1e-3, "{a} {b}");
            }
            assert!(!own.join(MODEL).exists());
        }
        let other = "conv8-bn-pieces-unique-s-example-6-passes-x4096-seed-2";
        assert!(embedded_as(other).is_none());
    }
}
