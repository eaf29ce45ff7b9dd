//! Where networks are taught and measured.

mod known;
mod plans;
mod weights;

use super::{LAST_YEAR, PASSES_IMAGES, PASSES_PLAIN, Size, Task, size};
use crate::lab::{ExperimentError, Lab, Part};
use known::{LeftOut, Why};
use outflank_games::othello::Othello;
use outflank_learners::cnn::{
    CnnBudget, Evaluation, Dataset, EnsemblePolicy, Split, TrainingSet, TrainReport, TestMetrics, sample_training_set, measure, ready,
    spread, train,
};
use outflank_models::nets::{Input, named};
use outflank_records::{Record, ExampleSetKind, Selection, embedded, read_games};
use outflank_runs::{files, stop_requested};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The accuracy that a task is about, and of how many positions: the paper's measure by example, ours by
/// game.
pub fn accuracy(tests: &[TestMetrics], task: Task, set: ExampleSetKind) -> Option<(f64, u64)> {
    let test = test_of(tests, task, set)?;
    Some((if task.by_game { test.all } else { test.plain }, test.count))
}

/// How often the largest output is a legal move.
pub fn valid(tests: &[TestMetrics], task: Task) -> Option<(f64, u64)> {
    let test = test_of(tests, task, task.set)?;
    Some((test.valid, test.count))
}

fn test_of(tests: &[TestMetrics], task: Task, set: ExampleSetKind) -> Option<&TestMetrics> {
    let name = task.test(set);
    tests.iter().find(|test| test.images == 1 && test.test.starts_with(&name))
}

type Key = (ExampleSetKind, Split, bool);

/// How long a network learns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Extent {
    /// As many examples as every other.
    BatchStats(u64),
    /// So often all of them.
    Passes(f64),
}

/// Teaches networks, or finds them taught.
pub struct School<'a> {
    lab: &'a Lab,
    size: Size,
    records: OnceCell<Vec<Record<Othello>>>,
    /// The lessons that were needed last.
    lessons: RefCell<Option<(Key, Rc<Dataset>)>>,
    /// What an exhibit could not have.
    left_out: RefCell<LeftOut>,
}

fn failed(error: impl std::fmt::Display) -> ExperimentError {
    ExperimentError::Learn(error.to_string())
}

const RESULT: &str = "result.json";
const MODEL: &str = "model.safetensors";

impl<'a> School<'a> {
    /// A school in a lab.
    pub fn new(lab: &'a Lab) -> School<'a> {
        School {
            lab,
            size: size(lab),
            records: OnceCell::new(),
            lessons: RefCell::new(None),
            left_out: RefCell::default(),
        }
    }

    /// How much of everything there is.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The lab.
    pub fn lab(&self) -> &'a Lab {
        self.lab
    }

    fn records(&self) -> Result<&[Record<Othello>], ExperimentError> {
        if let Some(records) = self.records.get() {
            return Ok(records);
        }
        let selection = Selection { sample: self.size.games, ..Selection::default() };
        let records = match self.lab.part(Part::Wthor) {
            Some(wthor) => read_games(&[wthor], &selection, self.lab.seed)?.records,
            None => selection.draw(embedded::games(), self.lab.seed),
        };
        Ok(self.records.get_or_init(|| records))
    }

    /// The examples of a task.
    pub fn lessons(&self, task: Task, input: Input) -> Result<Rc<Dataset>, ExperimentError> {
        let split = self.split(task);
        let key = (task.set, split, input.colour);
        if let Some((known, lessons)) = &*self.lessons.borrow()
            && *known == key
        {
            return Ok(lessons.clone());
        }
        let records = self.records()?;
        self.lessons.borrow_mut().take();
        let lessons =
            Rc::new(Dataset::new(records, task.set, split, input.colour).map_err(failed)?);
        *self.lessons.borrow_mut() = Some((key, lessons.clone()));
        Ok(lessons)
    }

    /// How the test of a task is told apart. Where networks are taught on an equal, shorter budget one
    /// network answers for both tests; in full it is the paper's split or ours.
    fn split(&self, task: Task) -> Split {
        match (self.answers_both(task), task.by_game) {
            (true, _) => Split::Both(LAST_YEAR),
            (false, true) => Split::Game(LAST_YEAR),
            (false, false) => Split::Example,
        }
    }

    /// Whether one network is there for both tests.
    pub fn answers_both(&self, task: Task) -> bool {
        let bagged = task.bag.is_some() && self.size.bagged.is_some();
        bagged || matches!(self.extent(task), Extent::BatchStats(_))
    }

    /// How much of everything there is for a task.
    fn size_of(&self, task: Task) -> Size {
        match (task.quarter, task.bag.is_some() && task.in_full) {
            (true, _) => self.size.quartered(),
            (_, true) => self.size.small_steps(),
            _ => self.size,
        }
    }

    /// How long a task's network learns.
    fn extent(&self, task: Task) -> Extent {
        match self.size_of(task).seen {
            None if task.set.is_symmetric() => Extent::Passes(PASSES_IMAGES),
            None => Extent::Passes(PASSES_PLAIN),
            Some(seen) => {
                let bagged = self.size.bagged.filter(|_| task.bag.is_some());
                let passes = self.size.in_full.filter(|_| task.in_full).or(bagged);
                passes.map_or(Extent::BatchStats(seen), Extent::Passes)
            }
        }
    }

    /// Where a task's network and what was found out about it are kept. The name says what it is and what
    /// it learned from; how, the file says that is kept there.
    pub fn folder(&self, task: Task) -> PathBuf {
        let extent = match self.extent(task) {
            Extent::BatchStats(seen) => format!("{seen}"),
            Extent::Passes(passes) => format!("{passes}-passes"),
        };
        let split = match (self.answers_both(task), task.by_game) {
            (true, _) => "both",
            (false, true) => "game",
            (false, false) => "example",
        };
        let batch = self.size_of(task).batch;
        let games = self.size.games.map_or_else(String::new, |games| format!("-games-{games}"));
        let bag = task.bag.map_or_else(String::new, |number| format!("-bag-{number}"));
        let (Task { net, input, set, .. }, seed) = (task, self.lab.seed);
        let input = input.replace('+', "-");
        let name = format!("{net}-{input}-{set}-{split}-{extent}-x{batch}{games}{bag}-seed-{seed}");
        self.lab.learned(&name)
    }

    /// Teaches and measures a network, unless that was done before by the same plan. What `outflank learn
    /// cnn` left in a folder of that name, which says nothing of a plan, will do. Where none is taught there
    /// is nothing to be had of one that is not known.
    pub fn study(&self, task: Task) -> Result<Option<TrainReport>, ExperimentError> {
        let folder = self.folder(task);
        let path = folder.join(RESULT);
        if path.is_file() {
            let taught: TrainReport = read_json(&path)?;
            if taught.complete && !taught.tests.is_empty() && self.is_still_so(task, &taught)? {
                return Ok(Some(taught));
            }
        }
        if !self.lab.device.can_train() {
            self.leave_out(Why::Unknown, &[task]);
            return Ok(None);
        }
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        (self.lab.say)(&format!("teaching {} ({}, {})", task.net, task.input, task.set));
        let (taught, model) = self.teach(task, &folder)?;
        self.keep(&folder, &taught, &model)?;
        Ok(Some(taught))
    }

    /// What a network comes to, and the file of its weights.
    fn teach(&self, task: Task, folder: &Path) -> Result<(TrainReport, Vec<u8>), ExperimentError> {
        files::create_folder(folder)?;
        let net = named(task.net, task.input.parse().map_err(failed)?).map_err(failed)?;
        let lessons = self.lessons(task, net.input())?;
        let mut items = lessons.items.clone();
        let plan = self.plan(&net, task);
        if task.bag.is_some() {
            items = lessons.bootstrap_sample(plan.seed);
        }
        let count = items.len();
        let sample = sample_training_set(&lessons, &items, self.size.tested);
        let words = self.plan_of(task)?;
        plans::begin(folder, &words)?;
        let study = TrainingSet::new(&net, &lessons.base, items);
        let device = &*self.lab.device;
        let mut engine = device.engine(&net, plan, study).map_err(failed)?;
        let passes = match self.extent(task) {
            // Half a step less, since what is asked for is rounded up.
            Extent::BatchStats(seen) => {
                let per_pass = (count / plan.batch).max(1) as f64;
                ((seen / plan.batch as u64).max(1) as f64 - 0.5) / per_pass
            }
            Extent::Passes(passes) => passes,
        };
        let budget =
            CnnBudget { passes: Some(passes), time: None, checkpoint: Duration::from_secs(120) };
        let trained = train(&mut *engine, &net, &plan, (count, &budget, folder), |point| {
            (self.lab.say)(&format!(
                "{}: step {} of {}, {:.0} examples a second, {:.2}% on top",
                task.net, point.step, point.steps, point.speed, point.hits
            ));
        })
        .map_err(failed)?;
        if !trained.complete {
            return Err(ExperimentError::Stopped);
        }
        let model = self.model(&net, &mut *engine, folder)?;
        let exam =
            Evaluation { lessons: &lessons, learned: &sample, most: self.size.tested, images: false };
        let mut taught = TrainReport::new(&net, &task.set.to_string(), &trained);
        taught.plan = Some(words);
        let go_on = |_: &str, _| !stop_requested();
        match exam.run(&mut *engine, net.input(), device, &mut taught, go_on).map_err(failed)? {
            true => Ok((taught, model)),
            false => Err(ExperimentError::Stopped),
        }
    }

    /// Networks that were taught, as one player's model; nothing where they cannot be asked.
    pub fn predictor(&self, tasks: &[Task]) -> Result<Option<Arc<EnsemblePolicy>>, ExperimentError> {
        let device = &*self.lab.device;
        let mut engines = Vec::new();
        let mut input = Input::PIECES;
        for &task in tasks {
            let Some((net, weights)) = self.weights(task, tasks)? else {
                self.leave_out(Why::Silent, tasks);
                return Ok(None);
            };
            input = net.input();
            engines.push(ready(device, &net, &weights).map_err(failed)?);
        }
        let at_a_time = if device.is_accelerated() && device.can_train() { 1024 } else { 64 };
        Ok(Some(Arc::new(EnsemblePolicy::new(input, engines, at_a_time))))
    }

    /// What a network, or several together, a bag, say of the tests of the first; nothing where that is not
    /// known.
    pub fn tests(&self, tasks: &[Task]) -> Result<Vec<TestMetrics>, ExperimentError> {
        let Some(&first) = tasks.first() else { return Ok(Vec::new()) };
        let mut alone = Vec::new();
        for &task in tasks {
            // Should one be taught anew, what they said together goes.
            let Some(taught) = self.study(task)? else { return Ok(Vec::new()) };
            alone.push(taught.tests);
        }
        if let [tests] = &mut alone[..] {
            return Ok(std::mem::take(tests));
        }
        let path = self.folder(first).join(format!("bag-of-{}.json", tasks.len()));
        if path.is_file() {
            return read_json(&path);
        }
        let Some(predictor) = self.predictor(tasks)? else { return Ok(Vec::new()) };
        let input: Input = first.input.parse().map_err(failed)?;
        let lessons = self.lessons(first, input)?;
        let mut tests = Vec::new();
        for test in &lessons.tests {
            let answer = &mut |words: &[u64]| predictor.logits(words);
            let examples = spread(&test.examples, self.size.tested);
            let figures =
                measure(answer, input, &examples, false, |_| !stop_requested()).map_err(failed)?;
            let figures = figures.ok_or(ExperimentError::Stopped)?;
            tests.push(TestMetrics::new(&test.name, test.seen, false, &figures));
        }
        write_json(&path, &tests)?;
        Ok(tests)
    }
}

/// What was kept in a file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ExperimentError> {
    let bytes = files::read(path, 1 << 20)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| failed(format!("{}: {error}; delete it to measure again", path.display())))
}

/// Keeps something in a file.
pub fn write_json(path: &Path, what: &impl Serialize) -> Result<(), ExperimentError> {
    let text = serde_json::to_string_pretty(what).map_err(failed)?;
    Ok(files::write(path, format!("{text}\n").as_bytes())?)
}
