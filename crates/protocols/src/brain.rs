//! The player behind a protocol: it chooses moves as it was described, or by a search of its model
//! when the other side sets a depth or a clock, and tells what it thinks of each move.

use outflank_analysis::DiscScale;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position};
use outflank_models::Evaluate;
use outflank_players::registry::{self, Model, RegistryError};
use outflank_players::{SearchControl, ProbCut, IterativeDeepening, Fault, Player, Searchable, PlayerSpec, Thought};
use outflank_runs::Rng;
use outflank_runs::rng::stream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Where a search with a clock begins to solve.
const FAR_ENDGAME: u32 = 20;

/// The table of the search has 2 to this many places.
const TABLE_BITS: u32 = 19;

/// What the other side allows for a move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allowance {
    /// Plies.
    pub depth: Option<u32>,
    /// Time.
    pub time: Option<Duration>,
}

/// The search that is under way, for whoever may have to stop it, and whether somebody waits for its end.
#[derive(Clone, Default)]
pub struct Current(Arc<Mutex<Underway>>);

#[derive(Default)]
struct Underway {
    control: Option<Arc<SearchControl>>,
    /// So many have come in since and want it to end.
    waiting: usize,
    /// Nobody listens any more.
    over: bool,
}

impl Underway {
    fn stop(&self) {
        if let Some(control) = &self.control {
            control.stop();
        }
    }
}

impl Current {
    fn underway(&self) -> MutexGuard<'_, Underway> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the search that is under way, if there is one.
    pub fn stop(&self) {
        self.underway().stop();
    }

    /// Somebody waits: the search under way is stopped, and so is any that begins before the one who
    /// waits has had their turn.
    pub(crate) fn wait(&self) {
        let mut underway = self.underway();
        underway.waiting += 1;
        underway.stop();
    }

    /// It is the turn of one who waited.
    pub(crate) fn turn(&self) {
        let mut underway = self.underway();
        underway.waiting = underway.waiting.saturating_sub(1);
    }

    /// Nobody listens any more: every search is stopped from now on.
    pub(crate) fn give_up(&self) {
        let mut underway = self.underway();
        underway.over = true;
        underway.stop();
    }

    /// Whether whatever is under way should come to its end.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        let underway = self.underway();
        underway.over || underway.waiting > 0
    }

    /// Says which search is under way.
    pub(crate) fn set(&self, control: Option<Arc<SearchControl>>) {
        let mut underway = self.underway();
        underway.control = control;
        if underway.over || underway.waiting > 0 {
            underway.stop();
        }
    }
}

/// A player of Othello that can be asked.
pub struct EnginePlayer {
    name: String,
    player: Box<dyn Player<Othello>>,
    search: Option<IterativeDeepening<Othello>>,
    pruning: Pruning,
    discs: Option<Discs>,
    rng: Rng,
    /// The search under way.
    pub current: Current,
}

/// What its search knows about pruning.
struct Pruning {
    /// The model, where it has a search.
    model: Option<Arc<dyn Evaluate<Othello>>>,
    /// Whether somebody said how to prune, or not to.
    asked: bool,
    /// How many deviations outside the window are pruned, where anything is.
    times: Option<f64>,
    /// What was measured of the model.
    cuts: Option<Arc<ProbCut>>,
}

impl Pruning {
    /// Measures the model unless that is done, or no pruning is wanted.
    fn measure(&mut self) {
        if let (None, Some(model), Some(times)) = (&self.cuts, &self.model, self.times) {
            self.cuts = Some(Arc::new(ProbCut::measure(model, times as f32)));
        }
    }
}

impl EnginePlayer {
    /// The player that a text describes.
    pub fn new(text: &str, threads: usize, seed: u64) -> Result<EnginePlayer, RegistryError> {
        let entry = registry::factory::<Othello>(text)?;
        let player = entry.make()?;
        let spec: PlayerSpec = text.parse()?;
        let is_engine = spec.model.starts_with("nboard:") || spec.model.starts_with("gtp:");
        let model = if is_engine { None } else { Some(registry::find_model::<Othello>(&spec)?) };
        let model = match model {
            Some(Model::Value(value)) => Some(value),
            _ => None,
        };
        let search = model.clone().map(|value| {
            let search = IterativeDeepening::new(value, TABLE_BITS).with_threads(threads);
            match Othello::parallel_endgame_solver(FAR_ENDGAME, threads) {
                Some(endgame) => search.with_endgame(endgame),
                None => search,
            }
        });
        let (asked, times) = (spec.cut.is_some(), spec.timed_probcut_threshold());
        let mut pruning = Pruning { model, asked, times, cuts: None };
        if asked {
            pruning.measure();
        }
        let rng = stream(seed, &["engine", &entry.name]);
        let current = Current::default();
        Ok(EnginePlayer { name: entry.name, player, search, pruning, discs: None, rng, current })
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A new game begins.
    pub fn begin(&mut self) -> Result<(), Fault> {
        self.player.new_game()
    }

    /// There is a clock: what a search under it needs is made ready before it runs.
    pub fn prepare(&mut self) {
        self.pruning.measure();
    }

    /// How what it thinks is read in discs, measured when it is first asked for; nothing when it cannot say
    /// what a move is worth.
    pub fn discs(&mut self) -> Option<Discs> {
        if let (None, Some(model)) = (self.discs, &self.pruning.model) {
            self.discs = Some(Discs::of(model));
        }
        self.discs
    }

    /// A move for a game that goes on, and the search that found it, if one did; `say` is told
    /// what every depth of a search found. A clock alone makes the search prune as usual; to a depth it
    /// looks at everything unless the player was described otherwise.
    pub fn choose(
        &mut self,
        game: &Line<Othello>,
        allowance: Allowance,
        say: impl FnMut(&Thought<Square>),
    ) -> Result<(Square, Option<Thought<Square>>), Fault> {
        if self.search.is_none() || allowance == Allowance::default() {
            let control = Arc::new(SearchControl::unlimited());
            self.current.set(Some(Arc::clone(&control)));
            self.player.set_control(&control);
            let chosen = self.player.choose(game, &mut self.rng);
            self.current.set(None);
            return match chosen {
                Err(Fault::Stopped { .. }) => self.choose_at_once(game.position()),
                chosen => Ok((chosen?, None)),
            };
        }
        let clock_alone = allowance.time.is_some() && allowance.depth.is_none();
        if clock_alone {
            self.prepare();
        }
        let how = How { each: false, prune: clock_alone || self.pruning.asked };
        match self.search(game.position(), how, allowance, say).as_ref().and_then(best) {
            Some(found) => Ok(found),
            None => self.choose_at_once(game.position()),
        }
    }

    /// A move for somebody who waits no longer.
    fn choose_at_once(
        &mut self,
        position: &Othello,
    ) -> Result<(Square, Option<Thought<Square>>), Fault> {
        let how = How { each: false, prune: false };
        let found = self.look(position, how, 1, &Arc::new(SearchControl::unlimited()), |_| {});
        let any = || position.moves().next().map(|mv| (mv, None));
        let stopped = || Fault::Stopped { player: self.name.clone() };
        found.as_ref().and_then(best).or_else(any).ok_or_else(stopped)
    }

    /// What it thinks of each move, or of the best; `None` when it cannot say, or was stopped before it
    /// could. It looks at everything unless the player was described otherwise.
    pub fn think(
        &mut self,
        position: &Othello,
        each: bool,
        allowance: Allowance,
        say: impl FnMut(&Thought<Square>),
    ) -> Option<Thought<Square>> {
        let how = How { each, prune: self.pruning.asked };
        self.search(position, how, allowance, say)
    }

    /// Looks ahead within what is allowed and until somebody stops it.
    fn search(
        &mut self,
        position: &Othello,
        how: How,
        allowance: Allowance,
        say: impl FnMut(&Thought<Square>),
    ) -> Option<Thought<Square>> {
        let control = SearchControl::unlimited();
        let control = Arc::new(match allowance.time {
            Some(time) => control.with_time(time),
            None => control,
        });
        self.current.set(Some(Arc::clone(&control)));
        let depth = allowance.depth.unwrap_or(u32::MAX);
        let thought = self.look(position, how, depth, &control, say);
        self.current.set(None);
        thought
    }

    fn look(
        &mut self,
        position: &Othello,
        how: How,
        depth: u32,
        control: &Arc<SearchControl>,
        say: impl FnMut(&Thought<Square>),
    ) -> Option<Thought<Square>> {
        let cuts = self.pruning.cuts.clone().filter(|_| how.prune);
        let mut search = self.search.take()?.with_max_depth(depth).with_probcut(cuts);
        let thought = search.run(position, how.each, control, say);
        self.search = Some(search);
        thought
    }
}

/// How a search goes about it.
#[derive(Clone, Copy)]
struct How {
    /// Whether each move is judged, or the best alone.
    each: bool,
    prune: bool,
}

/// The best move that was found, and all that was.
fn best(thought: &Thought<Square>) -> Option<(Square, Option<Thought<Square>>)> {
    thought.moves.first().map(|judged| (judged.mv, Some(thought.clone())))
}
