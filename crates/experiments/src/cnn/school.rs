//! Where networks are taught and measured.

use super::{BATCH, DECAY, MOMENTUM, PASSES_IMAGES, PASSES_PLAIN, RATE, Size, Task, size};
use crate::Scale;
use crate::lab::{ExperimentError, Lab};
use outflank_games::othello::Othello;
use outflank_learners::cnn::{
    Budget, Engine, Figures, Lessons, Optimizer, Plan, Predictor, Schedule, Split, Study, measure,
    ready, train,
};
use outflank_models::files::{Origin, read_policy, write_policy};
use outflank_models::nets::{Input, Net, named};
use outflank_records::{Coloured, Record, Selection, Set, embedded, read_games};
use outflank_runs::{files, stop_requested};
use serde::{Deserialize, Serialize};
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a network came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Studied {
    /// Steps.
    pub steps: u64,
    /// Seconds of learning.
    pub seconds: f64,
    /// Microseconds for a position, asked in batches of 256.
    pub micros: f64,
    /// On which device that was.
    pub device: String,
    /// How often it has the move of what it learned from on top, in per cent, and of how many.
    pub learned: (f64, u64),
    /// The tests.
    pub tests: Vec<Tested>,
}

/// What a test showed, in per cent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// Which.
    pub name: String,
    /// The share of it that was learned from.
    pub seen: f64,
    /// Positions.
    pub count: u64,
    /// The largest output is the move played.
    pub plain: f64,
    /// The best legal move is, twins sharing.
    pub all: f64,
    /// The largest output is legal.
    pub valid: f64,
    /// The move played is among the best three.
    pub top3: f64,
}

impl Studied {
    /// The accuracy that a task is about, and of how many positions: the paper's measure by example,
    /// ours by game.
    pub fn accuracy(&self, task: Task, set: Set) -> Option<(f64, u64)> {
        let test = self.tests.iter().find(|test| test.name == task.test(set))?;
        Some((if task.by_game { test.all } else { test.plain }, test.count))
    }

    /// How often the largest output is a legal move.
    pub fn valid(&self, task: Task) -> Option<(f64, u64)> {
        let test = self.tests.iter().find(|test| test.name == task.test(task.set))?;
        Some((test.valid, test.count))
    }
}

type Key = (Set, bool, bool);

/// Teaches networks, or finds them taught.
pub struct School<'a> {
    lab: &'a Lab,
    size: Size,
    records: OnceCell<Vec<Record<Othello>>>,
    /// The lessons that were needed last.
    lessons: RefCell<Option<(Key, Rc<Lessons>)>>,
}

fn failed(error: impl std::fmt::Display) -> ExperimentError {
    ExperimentError::Learn(error.to_string())
}

const STUDIED: &str = "studied.toml";
const MODEL: &str = "model.safetensors";

impl<'a> School<'a> {
    /// A school in a lab.
    pub fn new(lab: &'a Lab) -> School<'a> {
        School { lab, size: size(lab), records: OnceCell::new(), lessons: RefCell::new(None) }
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
        let records = match &self.lab.data {
            Some(data) => read_games(&[data.join("wthor")], &selection, self.lab.seed)?.records,
            None => selection.draw(embedded::games(), self.lab.seed),
        };
        Ok(self.records.get_or_init(|| records))
    }

    /// The examples of a task.
    pub fn lessons(&self, task: Task, input: Input) -> Result<Rc<Lessons>, ExperimentError> {
        let key = (task.set, task.by_game, input.colour);
        if let Some((known, lessons)) = &*self.lessons.borrow()
            && *known == key
        {
            return Ok(lessons.clone());
        }
        // The embedded games are of one year: all are learned from, and none is left to test on.
        let records = self.records()?;
        let last = records.iter().filter_map(|record| record.about.year()).max();
        let split = match (task.by_game, &self.lab.data) {
            (false, _) => Split::Example,
            (true, Some(_)) => Split::Game(2012),
            (true, None) => Split::Game(last.unwrap_or(2012)),
        };
        self.lessons.borrow_mut().take();
        let lessons =
            Rc::new(Lessons::new(records, task.set, split, input.colour).map_err(failed)?);
        *self.lessons.borrow_mut() = Some((key, lessons.clone()));
        Ok(lessons)
    }

    /// Where a task's network and what was found out about it are kept. The name says everything that
    /// makes it what it is.
    pub fn folder(&self, task: Task) -> PathBuf {
        let extent = match self.size.seen {
            Some(seen) => format!("{seen}x{}", self.size.batch),
            None => "full".to_owned(),
        };
        let games = self.size.games.map_or_else(String::new, |games| format!("-games-{games}"));
        let bag = task.bag.map_or_else(String::new, |number| format!("-bag-{number}"));
        let split = if task.by_game { "game" } else { "example" };
        let (Task { net, input, set, .. }, seed) = (task, self.lab.seed);
        let input = input.replace('+', "-");
        self.lab.learned(&format!("{net}-{input}-{set}-{split}-{extent}{games}{bag}-seed-{seed}"))
    }

    /// Teaches and measures a network, unless that was done before.
    pub fn study(&self, task: Task) -> Result<Studied, ExperimentError> {
        let folder = self.folder(task);
        let path = folder.join(STUDIED);
        if path.is_file() {
            let bytes = files::read(&path, 1 << 20)?;
            return toml::from_str(&String::from_utf8_lossy(&bytes)).map_err(|error| {
                failed(format!("{}: {error}; delete it to measure again", path.display()))
            });
        }
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        (self.lab.say)(&format!("teaching {} ({}, {})", task.net, task.input, task.set));
        let studied = self.teach(task, &folder)?;
        let text = toml::to_string(&studied).map_err(failed)?;
        files::write(&path, text.as_bytes())?;
        Ok(studied)
    }

    fn teach(&self, task: Task, folder: &Path) -> Result<Studied, ExperimentError> {
        files::create_folder(folder)?;
        let net = named(task.net, task.input.parse().map_err(failed)?).map_err(failed)?;
        let lessons = self.lessons(task, net.input())?;
        let mut items = lessons.items.clone();
        if let Some(number) = task.bag {
            items = lessons.drawn(number);
        }
        let (count, sample) = (items.len(), self.learned_sample(&lessons, &items));
        let plan = self.plan(&net);
        let study = Study::new(&net, &lessons.base, items);
        let mut engine = self.lab.device.engine(&net, plan, study).map_err(failed)?;
        let per_pass = (count / plan.batch).max(1) as f64;
        let passes = match self.size.seen {
            // Half a step less, since what is asked for is rounded up.
            Some(seen) => ((seen / plan.batch as u64).max(1) as f64 - 0.5) / per_pass,
            None if task.set.is_symmetric() => PASSES_IMAGES,
            None => PASSES_PLAIN,
        };
        let budget =
            Budget { passes: Some(passes), time: None, checkpoint: Duration::from_secs(120) };
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
        self.keep(&net, &mut *engine, folder)?;
        let mut ask = |examples: &[Coloured]| -> Result<Figures, ExperimentError> {
            let answer = &mut |words: &[u64]| engine.logits(words);
            let figures = measure(answer, net.input(), examples, false, |_| !stop_requested())
                .map_err(failed)?;
            figures.ok_or(ExperimentError::Stopped)
        };
        let learned = ask(&sample)?;
        let mut tests = Vec::new();
        for test in &lessons.tests {
            let figures = ask(&spread(&test.examples, self.size.tested))?;
            tests.push(tested(&test.name, test.seen, figures));
        }
        Ok(Studied {
            steps: trained.steps,
            seconds: trained.seconds,
            micros: micros(&mut *engine, net.input(), &sample, self.size.tested.min(256))
                .map_err(failed)?,
            device: self.lab.device.name().to_owned(),
            learned: (Figures::percent(learned.plain, learned.count), learned.count),
            tests,
        })
    }

    /// Some of what is learned from, for the training accuracy.
    fn learned_sample(&self, lessons: &Lessons, items: &[u32]) -> Vec<Coloured> {
        let most = self.size.tested.min(100_000);
        let step = items.len().div_ceil(most).max(1);
        items.iter().step_by(step).map(|&item| lessons.resolve(item)).collect()
    }

    /// Keeps the weights; what was needed to go on learning goes.
    fn keep(
        &self,
        net: &Net,
        engine: &mut dyn Engine,
        folder: &Path,
    ) -> Result<(), ExperimentError> {
        let origin = Origin {
            method: "cnn".to_owned(),
            seed: Some(self.lab.seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let state = engine.state().map_err(failed)?;
        let bytes = write_policy(net, &state.weights, &origin, true).map_err(failed)?;
        files::write(&folder.join(MODEL), &bytes)?;
        let _ = std::fs::remove_file(folder.join("checkpoint.toml"));
        let _ = std::fs::remove_dir_all(folder.join("checkpoint"));
        Ok(())
    }

    fn plan(&self, net: &Net) -> Plan {
        let seed = self.lab.seed;
        if self.lab.scale == Scale::Paper {
            return Plan {
                batch: BATCH,
                rate: RATE,
                schedule: Schedule::Halving,
                warmup: 500,
                optimizer: Optimizer::Sgd { momentum: MOMENTUM, nesterov: false },
                decay: DECAY,
                smoothing: 0.0,
                seed,
            };
        }
        // Without normalisation a large step is the end of it.
        let normalised = net.nodes().iter().any(|node| node.op == outflank_models::nets::Op::Norm);
        Plan {
            batch: self.size.batch,
            rate: if normalised { 0.2 } else { 0.05 },
            schedule: Schedule::Cosine,
            warmup: 500,
            optimizer: Optimizer::Sgd { momentum: 0.9, nesterov: true },
            decay: 5e-5,
            smoothing: 0.0,
            seed,
        }
    }

    /// Networks that were taught, as one player's model.
    pub fn predictor(&self, tasks: &[Task]) -> Result<Arc<Predictor>, ExperimentError> {
        let mut engines = Vec::new();
        let mut input = Input::PIECES;
        for &task in tasks {
            self.study(task)?;
            let bytes = files::read(&self.folder(task).join(MODEL), 1 << 30)?;
            let (net, weights, _) = read_policy(&bytes).map_err(failed)?;
            input = net.input();
            engines.push(ready(&*self.lab.device, &net, &weights).map_err(failed)?);
        }
        let at_a_time = if self.lab.device.is_quick() { 1024 } else { 64 };
        Ok(Arc::new(Predictor::new(input, engines, at_a_time)))
    }

    /// What several networks together say of the tests of the first: a bag.
    pub fn study_together(&self, tasks: &[Task]) -> Result<Vec<Tested>, ExperimentError> {
        let Some(&first) = tasks.first() else { return Ok(Vec::new()) };
        let path = self.folder(first).join(format!("bag-of-{}.toml", tasks.len()));
        #[derive(Serialize, Deserialize)]
        struct Bag {
            tests: Vec<Tested>,
        }
        if path.is_file() {
            let bytes = files::read(&path, 1 << 20)?;
            let bag: Bag = toml::from_str(&String::from_utf8_lossy(&bytes)).map_err(failed)?;
            return Ok(bag.tests);
        }
        let predictor = self.predictor(tasks)?;
        let input: Input = first.input.parse().map_err(failed)?;
        let lessons = self.lessons(first, input)?;
        let mut tests = Vec::new();
        for test in &lessons.tests {
            let answer = &mut |words: &[u64]| predictor.logits(words);
            let examples = spread(&test.examples, self.size.tested);
            let figures =
                measure(answer, input, &examples, false, |_| !stop_requested()).map_err(failed)?;
            let figures = figures.ok_or(ExperimentError::Stopped)?;
            tests.push(tested(&test.name, test.seen, figures));
        }
        let bag = Bag { tests };
        files::write(&path, toml::to_string(&bag).map_err(failed)?.as_bytes())?;
        Ok(bag.tests)
    }
}

fn tested(name: &str, seen: f64, f: Figures) -> Tested {
    // The year that divides the embedded games is theirs; the column is the same.
    let name = if name.starts_with("games after") { "games after 2012" } else { name };
    let percent = |hits: f64| Figures::percent(hits, f.count);
    Tested {
        name: name.to_owned(),
        seen,
        count: f.count,
        plain: percent(f.plain),
        all: percent(f.all),
        valid: percent(f.valid),
        top3: percent(f.top3),
    }
}

/// At most so many, evenly spread.
pub fn spread(examples: &[Coloured], most: usize) -> Vec<Coloured> {
    let step = examples.len().div_ceil(most.max(1)).max(1);
    examples.iter().step_by(step).copied().collect()
}

/// Microseconds for a position, asked in batches of so many, 256 as the paper's.
fn micros(
    engine: &mut dyn Engine,
    input: Input,
    examples: &[Coloured],
    batch: usize,
) -> Result<f64, outflank_learners::cnn::EngineError> {
    let mut words = Vec::new();
    for Coloured { example, white } in examples.iter().cycle().take(batch) {
        input.words(example.board(), *white, &mut words);
    }
    engine.logits(&words)?;
    let (began, mut batches) = (Instant::now(), 0u32);
    while began.elapsed() < Duration::from_millis(50) {
        engine.logits(&words)?;
        batches += 1;
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / (batch as f64 * f64::from(batches)))
}
