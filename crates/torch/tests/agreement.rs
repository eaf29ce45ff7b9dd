//! libtorch and the program's own executor do the same.
#![cfg(feature = "libtorch")]

use outflank_learners::cnn::{
    CpuEngine, Device, Engine, EngineError, Dataset, Optimizer, EpochOrder, CnnConfig, LrSchedule, Split,
    TrainState, TrainingSet, measure,
};
use outflank_models::nets::{Input, NetGraph, Role, examples, named};
use outflank_records::{ExampleSetKind, embedded};
use outflank_torch::TorchDevice;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time: libtorch has one stream of random numbers for all, which every new engine seeds.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lessons() -> Dataset {
    let games: Vec<_> = embedded::games().into_iter().take(40).collect();
    Dataset::new(&games, ExampleSetKind::UniqueS, Split::Example, false).unwrap()
}

fn plan(optimizer: Optimizer) -> CnnConfig {
    CnnConfig {
        batch: 16,
        rate: 0.05,
        schedule: LrSchedule::Cosine,
        warmup: 1,
        optimizer,
        decay: 1e-3,
        smoothing: 0.1,
        seed: 3,
    }
}

const SGD: Optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: true };

fn engines(net: &NetGraph, plan: CnnConfig, lessons: &Dataset) -> [Box<dyn Engine>; 2] {
    let study = || TrainingSet::new(net, &lessons.base, lessons.items.clone());
    let device = TorchDevice { gpu: false, graphs: true, fused: true, say: |text| panic!("{text}") };
    [Box::new(CpuEngine::new(net, plan, study())), device.engine(net, plan, study()).unwrap()]
}

fn near(a: &[f32], b: &[f32], within: f32) -> bool {
    let size = a.iter().fold(1.0f32, |size, a| size.max(a.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= within * size)
}

#[test]
fn answers_agree() {
    let _turn = alone();
    let lessons = lessons();
    let asked: Vec<_> = lessons.base.iter().step_by(97).map(|item| item.example.board()).collect();
    // Some of every stage of the game.
    let moves = asked.iter().map(|board| (board.own | board.other).count_ones() - 4);
    assert_eq!(moves.map(|moves| moves / 15).collect::<BTreeSet<_>>().len(), 4);
    for input in [Input::PIECES, "vmoves+colour".parse().unwrap()] {
        for net in examples(input).filter(|net| !net.name().contains("100")) {
            let (name, input) = (net.name(), net.input());
            let [mut own, mut torch] = engines(&net, plan(SGD), &lessons);
            let mut words = Vec::new();
            asked.iter().for_each(|&board| input.words(board, true, &mut words));
            let (a, b) = (own.logits(&words).unwrap(), torch.logits(&words).unwrap());
            assert!(near(&a, &b, 1e-4), "{name} {input}");
        }
    }
}

#[test]
fn learning_agrees_and_states_can_be_exchanged() {
    let _turn = alone();
    let lessons = lessons();
    let order = EpochOrder::new(lessons.items.len(), 1, 0);
    let adamw = Optimizer::AdamW { first: 0.9, second: 0.999 };
    let plain = Optimizer::Sgd { momentum: 0.95, nesterov: false };
    let cases = [
        ("conv4", SGD, 0.01),
        ("conv8-bn", SGD, 0.01),
        ("res2x16-se", plain, 0.02),
        // At a rate of 0.01 this depth multiplies rounding by some ten in each step, with a batch of 16:
        // PyTorch in single precision then differs from itself in double by 3e-2 after four steps, at
        // 0.001 by 3e-4.
        ("resnet-32-np-p", plain, 0.001),
        ("res1x16-pre", adamw, 0.001),
        ("fc2x64", SGD, 0.01),
        ("conv4-stages", SGD, 0.01),
        ("conv8-bn-stages", SGD, 0.01),
    ];
    for (name, optimizer, rate) in cases {
        let net = named(name, Input { stage: name.ends_with("-stages"), ..Input::PIECES }).unwrap();
        let [mut own, mut torch] = engines(&net, plan(optimizer), &lessons);
        let places: Vec<u32> = (0..16 * 4).map(|place| order.at(place)).collect();
        let start = own.state().unwrap();
        assert_eq!(torch.state().unwrap(), start, "{name}");
        let (first, rest) = places.split_at(32);
        for engine in [&mut own, &mut torch] {
            engine.train_steps(first, &[rate; 2]).unwrap();
        }
        // Each goes on from the other's state.
        let states = [own.state().unwrap(), torch.state().unwrap()];
        own.restore(&states[1]).unwrap();
        torch.restore(&states[0]).unwrap();
        for engine in [&mut own, &mut torch] {
            engine.train_steps(rest, &[rate; 2]).unwrap();
        }
        let (a, b) = (own.state().unwrap(), torch.state().unwrap());
        assert_eq!((a.step, b.step), (4, 4));
        for (at, param) in net.params().iter().enumerate() {
            let moved = start.weights.of(at) != a.weights.of(at);
            assert!(moved || param.role == Role::Bias, "{name} {} did not move", param.name);
            // Adam divides by the size of a gradient, however small it is.
            let within = if optimizer == adamw { 4.0 * rate as f32 } else { 2e-3 };
            let (a, b) = (a.weights.of(at), b.weights.of(at));
            assert!(near(a, b, within), "{name} {}", param.name);
        }
        let (a, b) = (own.seen().unwrap(), torch.seen().unwrap());
        assert_eq!((a.examples, b.examples), (64, 64));
        assert!((a.loss - b.loss).abs() < 0.02 * a.loss, "{name} {a:?} {b:?}");
    }
}

#[test]
fn figures_agree() {
    let _turn = alone();
    let lessons = lessons();
    let net = named("res1x16", Input::PIECES).unwrap();
    let figures = engines(&net, plan(SGD), &lessons).map(|mut engine| {
        let mut answer = |words: &[u64]| engine.logits(words);
        measure(&mut answer, net.input(), &lessons.tests[0].examples, true, |_| true)
    });
    let [a, b] = figures.map(|figures| figures.unwrap().unwrap());
    assert_eq!(a.count, b.count);
    assert!((a.all - b.all).abs() <= 1.0 + 0.01 * a.count as f64);
}

/// What is done between steps, of which the next ones must not hear.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Between {
    Nothing,
    Answer,
    Restore,
    Both,
}

/// The graphics processor.
fn gpu(graphs: bool, fused: bool) -> TorchDevice {
    TorchDevice { gpu: true, graphs, fused, say: |text| panic!("{text}") }
}

/// How far the second of each two are from the first, as a share of their length.
fn distance(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut apart, mut length) = (0.0, f64::MIN_POSITIVE);
    for (first, second) in pairs {
        apart += (first - second).powi(2);
        length += first.powi(2);
    }
    (apart / length).sqrt()
}

/// What came of some steps.
struct Steps {
    /// The losses of every four, or of all if there are fewer.
    losses: Vec<f64>,
    /// How far each weight moved in all.
    moved: Vec<f64>,
    /// The running means and variances at the end.
    running: Vec<Vec<f32>>,
}

impl Steps {
    /// How far the weights of others are from these, as a share of how far these moved.
    fn apart(&self, others: &Steps) -> f64 {
        distance(self.moved.iter().copied().zip(others.moved.iter().copied()))
    }

    /// How far the running means and variances of others are from these, as a share of these: the mean of
    /// all.
    fn running_apart(&self, others: &Steps) -> f64 {
        let pairs = self.running.iter().zip(&others.running);
        let apart = pairs.map(|(ours, theirs)| {
            let pairs = ours.iter().zip(theirs).map(|(&a, &b)| (f64::from(a), f64::from(b)));
            distance(pairs)
        });
        apart.sum::<f64>() / self.running.len().max(1) as f64
    }

    fn losses_near(&self, others: &Steps, within: f64) -> bool {
        self.losses.iter().zip(&others.losses).all(|(a, b)| (a - b).abs() < within * a)
    }
}

/// Takes twenty-four steps with batches of sixteen on the graphics processor; nothing without one.
fn steps(
    net: &NetGraph,
    optimizer: Optimizer,
    lessons: &Dataset,
    between: Between,
    device: TorchDevice,
) -> Option<Steps> {
    let study = TrainingSet::new(net, &lessons.base, lessons.items.clone());
    match device.engine(net, plan(optimizer), study) {
        Err(EngineError::Missing(_)) => None,
        engine => Some(steps_of(24, net, engine.unwrap(), lessons, between)),
    }
}

/// Takes steps with batches of sixteen.
fn steps_of(
    count: usize,
    net: &NetGraph,
    mut engine: Box<dyn Engine>,
    lessons: &Dataset,
    between: Between,
) -> Steps {
    let order = EpochOrder::new(lessons.items.len(), 1, 0);
    let places: Vec<u32> = (0..16 * count).map(|place| order.at(place)).collect();
    let start = engine.state().unwrap();
    let (mut losses, mut words) = (Vec::new(), Vec::new());
    net.input().words(lessons.base[0].example.board(), true, &mut words);
    for places in places.chunks(16 * 4) {
        engine.train_steps(places, &vec![1e-3; places.len() / 16]).unwrap();
        losses.push(engine.take_stats().unwrap().loss);
        if matches!(between, Between::Answer | Between::Both) {
            engine.logits(&words).unwrap();
        }
        if matches!(between, Between::Restore | Between::Both) {
            let state = engine.state().unwrap();
            engine.restore(&state).unwrap();
        }
    }
    let end = engine.state().unwrap();
    assert_eq!(end.step, count as u64);
    let running = |at: &usize| !net.params()[*at].role.is_trainable();
    let (running, learned): (Vec<usize>, Vec<usize>) = (0..net.params().len()).partition(running);
    let all =
        |state: &TrainState| learned.iter().flat_map(|&at| state.weights.of(at).to_vec()).collect();
    let [before, after]: [Vec<f32>; 2] = [&start, &end].map(all);
    let moved = before.iter().zip(&after).map(|(&a, &b)| f64::from(b) - f64::from(a)).collect();
    let running = running.iter().map(|&at| end.weights.of(at).to_vec()).collect();
    Steps { losses, moved, running }
}

/// A step that is recorded and replayed is the same step, with the same numbers drawn by dropout, and
/// whatever is read or restored between steps.
#[test]
fn recorded_steps_are_the_same_steps() {
    let _turn = alone();
    let lessons = lessons();
    let adamw = Optimizer::AdamW { first: 0.9, second: 0.999 };
    let mut wrong = Vec::new();
    for (name, optimizer, between) in [
        ("conv8-bn", SGD, Between::Both),
        ("res2x16-se", adamw, Between::Both),
        ("conv4", SGD, Between::Both),
        ("conv8-bn-stages", SGD, Between::Both),
        ("conv4-dropout", SGD, Between::Nothing),
        ("conv4-dropout", SGD, Between::Answer),
        ("conv4-dropout", SGD, Between::Restore),
        ("conv4-dropout", SGD, Between::Both),
    ] {
        let input = Input { stage: name.ends_with("-stages"), ..Input::PIECES };
        let net = named(name, input).unwrap();
        let run = |graphs| steps(&net, optimizer, &lessons, between, gpu(graphs, true));
        let (Some(single), Some(recorded)) = (run(false), run(true)) else {
            return eprintln!("skipped: no graphics processor");
        };
        let apart = single.apart(&recorded);
        let losses = [&single.losses, &recorded.losses];
        println!("{name}, {between:?}: apart {apart:.5}\n  {:?}\n  {:?}", losses[0], losses[1]);
        // Sums come in another order each time, and numbers have eight bits.
        if apart >= 0.1 || !single.losses_near(&recorded, 0.02) {
            wrong.push(format!("{name}, {between:?}: {apart}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Normalisation and ReLU in one operation are those two operations. Of a deep network's steps in numbers of
/// eight bits no two ways of rounding stay together: with every weight off by 6e-8 the weights of a WideNet
/// are half the way apart after twenty-four. So the first step of either is held against the program's own
/// executor in single precision, from which one operation may stray no farther than two.
#[test]
fn fused_steps_agree_with_separate_operations() {
    let _turn = alone();
    let lessons = lessons();
    let mut wrong = Vec::new();
    for name in ["conv8-bn", "widenet-40-4", "densenet-40"] {
        let net = named(name, Input::PIECES).unwrap();
        let study = || TrainingSet::new(&net, &lessons.base, lessons.items.clone());
        let step = |engine| steps_of(1, &net, engine, &lessons, Between::Nothing);
        let exact = step(Box::new(CpuEngine::new(&net, plan(SGD), study())));
        let apart = [false, true].map(|fused| {
            let engine = match gpu(false, fused).engine(&net, plan(SGD), study()) {
                Err(EngineError::Missing(_)) => return None,
                engine => engine.unwrap(),
            };
            let came = step(engine);
            assert!(exact.losses_near(&came, 0.01), "{name}: {:?}", came.losses);
            Some([exact.apart(&came), exact.running_apart(&came)])
        });
        let [Some(two), Some(one)] = apart else {
            return eprintln!("skipped: no graphics processor");
        };
        println!("{name}: {one:.4?} from exact, two operations {two:.4?}");
        if one[0] > 1.2 * two[0] || one[1] > 1.2 * two[1] + 1e-3 || one[1] > 0.02 {
            wrong.push(format!("{name}: {one:?}, two operations {two:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
