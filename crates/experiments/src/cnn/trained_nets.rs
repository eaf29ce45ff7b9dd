//! The cache of trained networks and their test results.

mod omissions;
mod plan;
mod weights;

pub use plan::training_text_for_report;

use super::{
    EPOCHS_WITH_SYMMETRIES, EPOCHS_WITHOUT_SYMMETRIES, LAST_TRAINING_YEAR, NetSpec, Percentage,
    ScaleParams, TRAIN_FRACTIONS, scale_params,
};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use omissions::{OmissionReason, Omissions};
use outflank_games::othello::Othello;
use outflank_learners::cnn::{
    CnnBudget, CnnLearner, Dataset, EnsemblePolicy, Evaluation, OldCheckpoint, Optimizer, Split,
    SplitBy, TestMetrics, TrainReport, TrainingSet, load_engine, measure, sample_evenly,
    sample_training_set,
};
use outflank_learners::training::{self, NoEvaluator, Trainer, TrainingPlan};
use outflank_models::files::Origin;
use outflank_models::nets::{Input, NetGraph, net_by_name};
use outflank_records::{ExampleSetKind, Record, Selection, embedded, read_games};
use outflank_runs::{LockError, RunLock, files, stop_requested};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::{Cell, OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time between two attempts to lock the folder of a network.
const LOCK_INTERVAL: Duration = Duration::from_millis(200);

/// Folder of the checkpoint, inside that of a network.
const TRAINING: &str = "training";

/// Converts the checkpoint of version 0.1 in the folder of a network.
fn import_old_checkpoint(
    learner: &mut CnnLearner,
    net: &NetGraph,
    optimizer: Optimizer,
    folder: &Path,
) -> Result<(), ExperimentError> {
    let training = folder.join(TRAINING);
    if training::has_checkpoint(&training) {
        return Ok(());
    }
    let old = OldCheckpoint::load(folder, net, optimizer).map_err(ExperimentError::training)?;
    if let Some(old) = old {
        learner
            .restore_state(&old.state, old.steps, old.seconds)
            .map_err(ExperimentError::training)?;
        training::import_checkpoint(learner, &[], &training).map_err(ExperimentError::training)?;
        OldCheckpoint::remove_all(folder).map_err(ExperimentError::training)?;
    }
    Ok(())
}

/// Removes the checkpoints of a network.
fn remove_checkpoints(folder: &Path) -> Result<(), ExperimentError> {
    OldCheckpoint::remove_all(folder).map_err(ExperimentError::training)?;
    let training = folder.join(TRAINING);
    if training.is_dir() {
        files::remove_folder(&training)?;
    }
    Ok(())
}

/// Returns the accuracy that experiments report: top-1 in a split by example (the paper's measure),
/// top-1 among legal moves in a split by game.
pub fn accuracy(tests: &[TestMetrics], spec: NetSpec, set: ExampleSetKind) -> Option<Percentage> {
    let test = find_test(tests, spec, set)?;
    Some((if spec.by_game { test.top1_legal } else { test.top1 }, test.count))
}

/// Returns the legal rate: how often the largest output is a legal move.
pub fn legal_rate(tests: &[TestMetrics], spec: NetSpec) -> Option<Percentage> {
    let test = find_test(tests, spec, spec.set)?;
    Some((test.legal_rate, test.count))
}

fn find_test(tests: &[TestMetrics], spec: NetSpec, set: ExampleSetKind) -> Option<&TestMetrics> {
    let name = spec.test_name_prefix(set);
    tests.iter().find(|test| test.symmetries == 1 && test.test.starts_with(&name))
}

/// Set, split, and whether the input has the color to move.
type DatasetKey = (ExampleSetKind, Split, bool);

/// The training length of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TrainingLength {
    /// A number of examples, equal for all networks.
    Examples(u64),
    /// A number of epochs.
    Epochs(f64),
}

/// Trains networks, or loads their results and weights from the cache folder.
pub struct TrainedNetCache<'a> {
    context: &'a ExperimentContext,
    params: ScaleParams,
    records: OnceCell<Vec<Record<Othello>>>,
    /// The dataset that was used last.
    dataset: RefCell<Option<(DatasetKey, Rc<Dataset>)>>,
    /// Networks that the experiment omitted.
    omissions: RefCell<Omissions>,
    /// Networks whose other plan was reported.
    reported_plans: RefCell<Vec<NetSpec>>,
    /// Whether retraining replaced results that the experiment may have used.
    outdated: Cell<bool>,
}

/// File of a network's training and test results.
const RESULT: &str = "result.json";
/// File of a network's weights.
const MODEL: &str = "model.safetensors";

impl<'a> TrainedNetCache<'a> {
    /// Creates a cache for an experiment.
    pub fn new(context: &'a ExperimentContext) -> TrainedNetCache<'a> {
        TrainedNetCache {
            context,
            params: scale_params(context),
            records: OnceCell::new(),
            dataset: RefCell::new(None),
            omissions: RefCell::default(),
            reported_plans: RefCell::default(),
            outdated: Cell::new(false),
        }
    }

    /// Returns the parameters of the scale.
    pub fn params(&self) -> ScaleParams {
        self.params
    }

    /// Returns the context of the experiment.
    pub fn context(&self) -> &'a ExperimentContext {
        self.context
    }

    fn records(&self) -> Result<&[Record<Othello>], ExperimentError> {
        if let Some(records) = self.records.get() {
            return Ok(records);
        }
        let selection = Selection { sample: self.params.games, ..Selection::default() };
        let records = match self.context.data_folder(DataFolder::Wthor) {
            Some(wthor) => read_games(&[wthor], &selection, self.context.seed)?.records,
            None => selection.sample_from(embedded::games(), self.context.seed),
        };
        Ok(self.records.get_or_init(|| records))
    }

    /// Returns the training and test examples of a network.
    pub fn dataset(&self, spec: NetSpec, input: Input) -> Result<Rc<Dataset>, ExperimentError> {
        let split = self.split(spec);
        let key = (spec.set, split, input.color_plane);
        if let Some((last, dataset)) = &*self.dataset.borrow()
            && *last == key
        {
            return Ok(dataset.clone());
        }
        let records = self.records()?;
        // Frees the memory of the last dataset first.
        self.dataset.borrow_mut().take();
        let dataset = Dataset::new(records, spec.set, split, input.color_plane)
            .map_err(ExperimentError::training)?;
        let dataset = Rc::new(dataset);
        *self.dataset.borrow_mut() = Some((key, dataset.clone()));
        Ok(dataset)
    }

    /// Returns the train/test split of a network. With the shorter budget, one network is tested by
    /// example and by game; with full training, only by one of them.
    fn split(&self, spec: NetSpec) -> Split {
        let by = match (self.is_tested_both_ways(spec), spec.by_game) {
            (true, _) => SplitBy::Both,
            (false, true) => SplitBy::Game,
            (false, false) => SplitBy::Example,
        };
        Split { by, last_year: LAST_TRAINING_YEAR, train_fractions: TRAIN_FRACTIONS }
    }

    /// Returns whether the network is tested both by example and by game.
    pub fn is_tested_both_ways(&self, spec: NetSpec) -> bool {
        let short_ensemble =
            spec.ensemble_member.is_some() && self.params.ensemble_epochs.is_some();
        short_ensemble || matches!(self.training_length(spec), TrainingLength::Examples(_))
    }

    /// Returns the scale's parameters for a network.
    fn params_of(&self, spec: NetSpec) -> ScaleParams {
        match (spec.quarter_budget, spec.ensemble_member.is_some() && spec.full_training) {
            (true, _) => self.params.quarter_budget(),
            (_, true) => self.params.small_batches(),
            _ => self.params,
        }
    }

    fn training_length(&self, spec: NetSpec) -> TrainingLength {
        match self.params_of(spec).examples {
            None if spec.set.is_symmetric() => TrainingLength::Epochs(EPOCHS_WITH_SYMMETRIES),
            None => TrainingLength::Epochs(EPOCHS_WITHOUT_SYMMETRIES),
            Some(examples) => {
                let ensemble =
                    self.params.ensemble_epochs.filter(|_| spec.ensemble_member.is_some());
                let epochs = self.params.full_epochs.filter(|_| spec.full_training).or(ensemble);
                epochs.map_or(TrainingLength::Examples(examples), TrainingLength::Epochs)
            }
        }
    }

    /// Returns the folder of a network. Its name identifies the network and its data; the plan in
    /// its result file identifies the training. Existing caches depend on these names.
    pub fn folder(&self, spec: NetSpec) -> PathBuf {
        let length = match self.training_length(spec) {
            TrainingLength::Examples(examples) => format!("{examples}"),
            TrainingLength::Epochs(epochs) => format!("{epochs}-passes"),
        };
        let split = match (self.is_tested_both_ways(spec), spec.by_game) {
            (true, _) => "both",
            (false, true) => "game",
            (false, false) => "example",
        };
        let batch = self.params_of(spec).batch_size;
        let games = self.params.games.map_or_else(String::new, |games| format!("-games-{games}"));
        let member = spec.ensemble_member.map_or_else(String::new, |n| format!("-bag-{n}"));
        let (NetSpec { net, input, set, .. }, seed) = (spec, self.context.seed);
        let input = input.replace('+', "-");
        let name =
            format!("{net}-{input}-{set}-{split}-{length}-x{batch}{games}{member}-seed-{seed}");
        self.context.player_folder(&name)
    }

    /// Returns the results of a network. Uses cached results if they have the same plan, or no
    /// plan, as those of `outflank train cnn`; otherwise trains and tests the network. On a device
    /// that cannot train, returns `None` if there are no cached results.
    pub fn train_or_load(&self, spec: NetSpec) -> Result<Option<TrainReport>, ExperimentError> {
        let folder = self.folder(spec);
        if let Some(result) = self.cached_result(spec)? {
            return Ok(Some(result));
        }
        if !self.context.device.can_train() {
            self.omit(OmissionReason::NotCached, &[spec]);
            return Ok(None);
        }
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        let _lock = self.lock(spec)?;
        // Another process may have trained it since.
        if let Some(result) = self.cached_result(spec)? {
            return Ok(Some(result));
        }
        (self.context.log)(&format!("training {} ({}, {})", spec.net, spec.input, spec.set));
        let (result, model) = self.train(spec, &folder)?;
        self.save(&folder, &result, &model)?;
        Ok(Some(result))
    }

    /// Returns the complete results in the folder of a network.
    fn cached_result(&self, spec: NetSpec) -> Result<Option<TrainReport>, ExperimentError> {
        let path = self.folder(spec).join(RESULT);
        if !path.is_file() {
            return Ok(None);
        }
        let result: TrainReport = read_json(&path)?;
        let is_usable =
            result.complete && !result.tests.is_empty() && self.has_same_plan(spec, &result)?;
        Ok(is_usable.then_some(result))
    }

    /// Locks the folder of a network, which several experiments may share. Waits while another process
    /// trains the network.
    fn lock(&self, spec: NetSpec) -> Result<RunLock, ExperimentError> {
        let folder = self.folder(spec);
        files::create_folder(&folder)?;
        let mut is_first = true;
        loop {
            match RunLock::acquire(&folder) {
                Ok(lock) => return Ok(lock),
                Err(LockError::File(error)) => return Err(error.into()),
                Err(LockError::Locked { .. }) if stop_requested() => {
                    return Err(ExperimentError::Stopped);
                }
                Err(LockError::Locked { process, .. }) => {
                    if std::mem::take(&mut is_first) {
                        let process = process.map_or_else(String::new, |id| format!(" {id}"));
                        let net = spec.net;
                        (self.context.log)(&format!(
                            "waiting for process{process}, which trains {net}"
                        ));
                    }
                    std::thread::sleep(LOCK_INTERVAL);
                }
            }
        }
    }

    /// Trains and tests a network; returns its results and its model file.
    fn train(
        &self,
        spec: NetSpec,
        folder: &Path,
    ) -> Result<(TrainReport, Vec<u8>), ExperimentError> {
        files::create_folder(folder)?;
        let input = spec.input.parse().map_err(ExperimentError::training)?;
        let net = net_by_name(spec.net, input).map_err(ExperimentError::training)?;
        let dataset = self.dataset(spec, net.input())?;
        let mut items = dataset.items.clone();
        let plan = self.training_config(&net, spec);
        if spec.ensemble_member.is_some() {
            items = dataset.bootstrap_sample(plan.seed);
        }
        let count = items.len();
        let sample = sample_training_set(&dataset, &items, self.params.test_positions);
        let training_text = self.training_text_with_seed(spec)?;
        plan::record_plan(folder, &training_text)?;
        let training_set = TrainingSet::new(&net, &dataset.base, items);
        let device = &*self.context.device;
        let engine = device.engine(&net, plan, training_set).map_err(ExperimentError::training)?;
        let epochs = match self.training_length(spec) {
            // Half a step less, because `train` rounds the number of steps up.
            TrainingLength::Examples(examples) => {
                let steps_per_epoch = (count / plan.batch_size).max(1) as f64;
                ((examples / plan.batch_size as u64).max(1) as f64 - 0.5) / steps_per_epoch
            }
            TrainingLength::Epochs(epochs) => epochs,
        };
        let budget = CnnBudget { epochs: Some(epochs), time_limit: None };
        let mut learner = CnnLearner::new(engine, &net, plan, count, budget)
            .map_err(ExperimentError::training)?;
        let training = folder.join(TRAINING);
        files::create_folder(&training)?;
        import_old_checkpoint(&mut learner, &net, plan.optimizer, folder)?;
        let (log, every) = (&self.context.log, Duration::from_secs(10));
        let (steps, mut logged) = (learner.budget(), Instant::now());
        let trainer = Trainer::new(TrainingPlan::new(steps, "steps", Origin::default()));
        let trained = trainer
            .run(&mut learner, &NoEvaluator, &training, |status| {
                if logged.elapsed() >= every {
                    log(&format!("{}: step {} of {steps}", spec.net, status.spent));
                    logged = Instant::now();
                }
                true
            })
            .map_err(ExperimentError::training)?;
        if !trained.complete {
            return Err(ExperimentError::Stopped);
        }
        let mut engine = learner.engine();
        let model = self.model_file(&net, &mut **engine, folder)?;
        let evaluation = Evaluation {
            dataset: &dataset,
            train_sample: &sample,
            max_positions: self.params.test_positions,
            average_symmetries: false,
        };
        let mut result = TrainReport::new(&net, &spec.set.to_string(), &learner, true);
        result.plan = Some(training_text);
        let should_continue = |_: &str, _| !stop_requested();
        match evaluation
            .run(&mut **engine, net.input(), device, &mut result, should_continue)
            .map_err(ExperimentError::training)?
        {
            true => Ok((result, model)),
            false => Err(ExperimentError::Stopped),
        }
    }

    /// Loads networks as one model, an ensemble if there are several; `None` if weights are missing
    /// and cannot be trained, or if results are [`outdated`](Self::is_outdated).
    pub fn predictor(
        &self,
        specs: &[NetSpec],
    ) -> Result<Option<Arc<EnsemblePolicy>>, ExperimentError> {
        let device = &*self.context.device;
        let mut engines = Vec::new();
        let mut input = Input::PIECES;
        for &spec in specs {
            let loaded = if self.is_outdated() { None } else { self.weights(spec, specs)? };
            let Some((net, weights)) = loaded else {
                self.omit(OmissionReason::NoWeights, specs);
                return Ok(None);
            };
            input = net.input();
            engines.push(load_engine(device, &net, &weights).map_err(ExperimentError::training)?);
        }
        let batch = if device.is_accelerated() && device.can_train() { 1024 } else { 64 };
        Ok(Some(Arc::new(EnsemblePolicy::new(input, engines, batch))))
    }

    /// Returns the test results of a network, or of an ensemble on the tests of its first member;
    /// empty if they are not available.
    pub fn test_results(&self, specs: &[NetSpec]) -> Result<Vec<TestMetrics>, ExperimentError> {
        let Some(&first) = specs.first() else { return Ok(Vec::new()) };
        let mut single = Vec::new();
        for &spec in specs {
            // Retraining a member deletes the results of the ensemble.
            let Some(result) = self.train_or_load(spec)? else { return Ok(Vec::new()) };
            single.push(result.tests);
        }
        if let [tests] = &mut single[..] {
            return Ok(std::mem::take(tests));
        }
        let path = self.folder(first).join(format!("bag-of-{}.json", specs.len()));
        if path.is_file() {
            return read_json(&path);
        }
        let Some(predictor) = self.predictor(specs)? else { return Ok(Vec::new()) };
        let input: Input = first.input.parse().map_err(ExperimentError::training)?;
        let dataset = self.dataset(first, input)?;
        let mut tests = Vec::new();
        for test in &dataset.tests {
            let predict = &mut |words: &[u64]| predictor.logits(words);
            let examples = sample_evenly(&test.examples, self.params.test_positions);
            let metrics = measure(predict, input, &examples, false, |_| !stop_requested())
                .map_err(ExperimentError::training)?;
            let metrics = metrics.ok_or(ExperimentError::Stopped)?;
            tests.push(TestMetrics::new(&test.name, test.train_overlap, false, &metrics));
        }
        write_json(&path, &tests)?;
        Ok(tests)
    }

    /// Returns whether retraining replaced results that the experiment may have used. If so, the
    /// experiment must run again.
    pub fn is_outdated(&self) -> bool {
        self.outdated.get()
    }
}

/// Reads a JSON file of the cache.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ExperimentError> {
    let bytes = files::read(path, 1 << 20)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let text = format!("{}: {error}. Delete the file to measure again.", path.display());
        ExperimentError::Training(text)
    })
}

/// Writes a JSON file of the cache.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), ExperimentError> {
    let text = serde_json::to_string_pretty(value).map_err(ExperimentError::training)?;
    Ok(files::write(path, format!("{text}\n").as_bytes())?)
}
