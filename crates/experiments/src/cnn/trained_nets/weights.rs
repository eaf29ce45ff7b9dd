//! Saves and loads the weights of trained networks; retrains networks whose weights are missing.
//!
//! Result files are small and are distributed without weights, so a folder may have results only.

use super::super::NetSpec;
use super::plan::PLAN;
use super::{MODEL, RESULT, TrainedNetCache, write_json};
use crate::context::ExperimentError;
use outflank_learners::cnn::{Engine, TrainReport};
use outflank_models::embedded;
use outflank_models::files::{Origin, read_policy, write_policy};
use outflank_models::nets::{NetGraph, Weights};
use outflank_runs::files;
use std::path::Path;

/// Folder of the network that is embedded in the program as `cnn`.
const EMBEDDED: &str = "conv8-bn-pieces-unique-s-example-6-passes-x4096-seed-1";

/// Prefixes of files with results derived from a network's predictions: match scores and results of
/// ensembles.
const DERIVED_RESULTS: [&str; 2] = ["won-", "bag-of-"];

impl TrainedNetCache<'_> {
    /// Returns the model file of an engine's weights.
    pub(super) fn model_file(
        &self,
        net: &NetGraph,
        engine: &mut dyn Engine,
        folder: &Path,
    ) -> Result<Vec<u8>, ExperimentError> {
        let origin = Origin {
            method: "cnn".to_owned(),
            seed: Some(self.context.seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let state = engine.state().map_err(ExperimentError::training)?;
        write_policy(net, &state.weights, &origin, true).map_err(ExperimentError::training)
    }

    /// Saves a network's results, then its weights, so that existing weights always belong to the
    /// results. Deletes the checkpoint last.
    pub(super) fn save(
        &self,
        folder: &Path,
        result: &TrainReport,
        model: &[u8],
    ) -> Result<(), ExperimentError> {
        write_json(&folder.join(RESULT), result)?;
        files::write(&folder.join(MODEL), model)?;
        super::remove_checkpoints(folder)?;
        let _ = files::remove(&folder.join(PLAN));
        Ok(())
    }

    /// Returns a network and its weights. `ensemble` is the ensemble that it is evaluated in.
    ///
    /// If the weights are missing, retrains the network. If the new results differ, deletes all
    /// results derived from the old ones, marks the cache as outdated and returns `None`. Also
    /// returns `None` if the device cannot train.
    pub(super) fn weights(
        &self,
        spec: NetSpec,
        ensemble: &[NetSpec],
    ) -> Result<Option<(NetGraph, Weights)>, ExperimentError> {
        let Some(cached) = self.train_or_load(spec)? else { return Ok(None) };
        let folder = self.folder(spec);
        let path = folder.join(MODEL);
        if !path.is_file() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let embedded = embedded_net(&name);
            if embedded.is_some() || !self.context.device.can_train() {
                return Ok(embedded);
            }
            let _lock = self.lock(spec)?;
            (self.context.log)(&format!("{name} has results but no weights: retraining"));
            let (result, model) = self.train(spec, &folder)?;
            let is_same =
                (&result.tests, result.train_accuracy) == (&cached.tests, cached.train_accuracy);
            if !is_same {
                // The results of an ensemble are in the folder of its first member.
                for spec in [Some(&spec), ensemble.first()].into_iter().flatten() {
                    delete_derived_results(&self.folder(*spec))?;
                }
            }
            self.save(&folder, &result, &model)?;
            if !is_same {
                (self.context.log)(&format!(
                    "{name} has other results after retraining: running the experiment again"
                ));
                self.outdated.set(true);
                return Ok(None);
            }
        }
        let bytes = files::read(&path, 1 << 30)?;
        let (net, weights, _) = read_policy(&bytes).map_err(|error| {
            let text = format!("{}: {error}. Delete the file to retrain.", path.display());
            ExperimentError::Training(text)
        })?;
        Ok(Some((net, weights)))
    }
}

/// Returns the embedded network if this is its folder.
fn embedded_net(folder: &str) -> Option<(NetGraph, Weights)> {
    let cnn = (folder == EMBEDDED).then(embedded::cnn)??;
    Some((cnn.net().clone(), cnn.weights().clone()))
}

/// Deletes results that were derived from a network's predictions.
pub(super) fn delete_derived_results(folder: &Path) -> Result<(), ExperimentError> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if DERIVED_RESULTS.iter().any(|prefix| name.starts_with(prefix)) {
            files::remove(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::table5::BEST;
    use super::*;
    use crate::context::{ExperimentContext, Scale};
    use outflank_games::othello::Othello;
    use outflank_games::{Position, Side};
    use outflank_learners::cnn::{
        CachedOnly, CnnConfig, CpuDevice, Device, EngineError, TrainingSet,
    };

    /// A CPU device with the parameters of an accelerator.
    struct FakeAccelerator;

    impl Device for FakeAccelerator {
        fn name(&self) -> &'static str {
            "fake"
        }

        fn is_accelerated(&self) -> bool {
            true
        }

        fn engine(
            &self,
            net: &NetGraph,
            plan: CnnConfig,
            training_set: TrainingSet,
        ) -> Result<Box<dyn Engine>, EngineError> {
            CpuDevice.engine(net, plan, training_set)
        }
    }

    #[test]
    fn embedded_network_is_used_for_its_folder() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/cnn/learned");
        let folder = tempfile::tempdir().unwrap();
        let net_folder = folder.path().join(EMBEDDED);
        files::create_folder(&net_folder).unwrap();
        std::fs::copy(results.join(EMBEDDED).join(RESULT), net_folder.join(RESULT)).unwrap();
        let (cnn, start) = (embedded::cnn().unwrap(), Othello::start());
        let mut words = Vec::new();
        cnn.net().input().encode(start.board(), start.to_move() == Side::White, &mut words);
        let devices: [Box<dyn Device>; 2] = [Box::new(FakeAccelerator), Box::new(CachedOnly)];
        for device in devices {
            let context = ExperimentContext {
                cache: Some(folder.path().to_owned()),
                device,
                log: Box::new(|text| panic!("no training expected: {text}")),
                ..ExperimentContext::new(Scale::Desk, 1, folder.path())
            };
            let nets = TrainedNetCache::new(&context);
            assert_eq!(nets.folder(BEST), net_folder);
            let predictor = nets.predictor(&[BEST]).unwrap().unwrap();
            let logits = predictor.logits(&words).unwrap();
            for (a, b) in logits.iter().zip(cnn.logits([start])) {
                assert!((a - b).abs() < 1e-3, "{a} {b}");
            }
            assert!(!net_folder.join(MODEL).exists());
        }
        let other = "conv8-bn-pieces-unique-s-example-6-passes-x4096-seed-2";
        assert!(embedded_net(other).is_none());
    }

    /// Two experiments with one cache trained the same network at the same time, and overwrote each
    /// other's checkpoints.
    #[test]
    fn a_network_that_another_process_trains_is_waited_for() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/cnn/learned");
        let folder = tempfile::tempdir().unwrap();
        let net_folder = folder.path().join(EMBEDDED);
        files::create_folder(&net_folder).unwrap();
        let lock = outflank_runs::RunLock::acquire(&net_folder).unwrap();
        let (send, messages) = std::sync::mpsc::channel();
        let cache = folder.path().to_owned();
        let experiment = std::thread::spawn(move || {
            let context = ExperimentContext {
                cache: Some(cache.clone()),
                device: Box::new(FakeAccelerator),
                log: Box::new(move |text| {
                    assert!(text.starts_with("waiting for process"), "{text}");
                    send.send(text.to_owned()).unwrap();
                }),
                ..ExperimentContext::new(Scale::Desk, 1, &cache)
            };
            TrainedNetCache::new(&context).train_or_load(BEST).unwrap().is_some()
        });
        let message = messages.recv().unwrap();
        assert!(message.contains(&std::process::id().to_string()), "{message}");
        std::fs::copy(results.join(EMBEDDED).join(RESULT), net_folder.join(RESULT)).unwrap();
        drop(lock);
        assert!(experiment.join().unwrap(), "the result of the other process is used");
    }
}
