//! A player for engine protocols. It plays as its specification says, or searches its model within
//! a depth or time limit, and it evaluates moves.

use crate::disc_scale::DiscScale;
use crate::search_interrupt::SearchInterrupt;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position};
use outflank_models::Evaluate;
use outflank_players::registry::{self, PlayerModel, RegistryError};
use outflank_players::selective::SelectiveSearch;
use outflank_players::{
    IterativeDeepening, Player, PlayerError, PlayerSpec, ProbCut, SearchControl, SearchResult,
    Searchable,
};
use outflank_runs::Rng;
use outflank_runs::rng::stream;
use std::sync::Arc;
use std::time::Duration;

/// A search with limits solves positions with at most this many empty squares.
const EXACT_EMPTIES: u32 = 20;

/// The same for a selective search under a clock: it has a selective result long before the exact
/// one.
const TIMED_EXACT_EMPTIES: u32 = 26;

/// The base-2 logarithm of the transposition table size.
const TABLE_BITS: u32 = 19;

/// Depth and time limits of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchLimits {
    /// The maximum depth in plies.
    pub depth: Option<u32>,
    /// The maximum time.
    pub time: Option<Duration>,
}

/// An Othello player that accepts search limits and evaluates moves.
pub struct AnalysisEngine {
    name: String,
    player: Box<dyn Player<Othello>>,
    search: Option<IterativeDeepening<Othello>>,
    /// The search of a player with the selective search (@mpc), which replaces the other one.
    selective: Option<SelectiveSearch>,
    pruning: Pruning,
    scale: Option<DiscScale>,
    rng: Rng,
    interrupt: SearchInterrupt,
}

/// Selective pruning of an engine player's search.
struct Pruning {
    /// The model, if the player has one that evaluates positions.
    model: Option<Arc<dyn Evaluate<Othello>>>,
    /// Whether the player's specification sets a threshold.
    is_explicit: bool,
    /// The threshold in standard deviations, if any.
    threshold: Option<f64>,
    /// The fitted parameters.
    probcut: Option<Arc<ProbCut>>,
}

impl Pruning {
    /// Fits the parameters, unless they are already fitted or pruning is off.
    fn fit(&mut self) {
        if let (None, Some(model), Some(threshold)) = (&self.probcut, &self.model, self.threshold) {
            self.probcut = Some(Arc::new(ProbCut::measure(model, threshold as f32)));
        }
    }
}

/// Options of one search.
#[derive(Clone, Copy)]
struct SearchOptions {
    /// Whether all moves are evaluated, or only the best.
    all_moves: bool,
    prune: bool,
}

impl AnalysisEngine {
    /// Creates the player with the given specification.
    pub fn new(text: &str, threads: usize, seed: u64) -> Result<AnalysisEngine, RegistryError> {
        let factory = registry::factory::<Othello>(text)?;
        let player = factory.make()?;
        let spec: PlayerSpec = text.parse()?;
        let is_engine = spec.model.starts_with("nboard:") || spec.model.starts_with("gtp:");
        let model = if is_engine { None } else { Some(registry::find_model::<Othello>(&spec)?) };
        let model = match model {
            Some(PlayerModel::Value(value)) => Some(value),
            _ => None,
        };
        let search = model.clone().map(|value| {
            let search = IterativeDeepening::new(value, TABLE_BITS).with_threads(threads);
            match Othello::parallel_endgame_solver(EXACT_EMPTIES, threads) {
                Some(endgame) => search.with_endgame(endgame),
                None => search,
            }
        });
        let selective = match is_engine {
            true => None,
            false => registry::selective_search(&spec)?,
        };
        let selective = selective.map(|search| search.with_threads(threads));
        let (is_explicit, threshold) = (spec.probcut.is_some(), spec.timed_probcut_threshold());
        let mut pruning = Pruning { model, is_explicit, threshold, probcut: None };
        if is_explicit {
            pruning.fit();
        }
        let rng = stream(seed, &["engine", &factory.name]);
        let interrupt = SearchInterrupt::default();
        Ok(AnalysisEngine {
            name: factory.name,
            player,
            search,
            selective,
            pruning,
            scale: None,
            rng,
            interrupt,
        })
    }

    /// Returns the player's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the handle that stops the player's searches.
    #[must_use]
    pub fn interrupt(&self) -> &SearchInterrupt {
        &self.interrupt
    }

    /// Starts a new game.
    pub fn new_game(&mut self) -> Result<(), PlayerError> {
        if let Some(search) = &mut self.selective {
            search.clear();
        }
        self.player.new_game()
    }

    /// Fits the pruning parameters in advance, so that a search with a time limit does not spend
    /// its time on this.
    pub fn prepare(&mut self) {
        if self.selective.is_none() {
            self.pruning.fit();
        }
    }

    /// Returns the conversion of the player's values to discs, which the first call computes;
    /// `None` if the player does not evaluate positions.
    pub fn scale(&mut self) -> Option<DiscScale> {
        if self.selective.is_some() {
            return Some(DiscScale::DISCS);
        }
        if let (None, Some(model)) = (self.scale, &self.pruning.model) {
            self.scale = Some(DiscScale::for_model(model));
        }
        self.scale
    }

    /// Chooses a move, and returns it with the search result if a search chose it.
    ///
    /// Without limits the player plays as its specification says. A time limit alone enables the
    /// default pruning; a depth limit searches without pruning unless the specification sets a
    /// threshold. `on_depth` receives the result of each completed depth.
    pub fn choose(
        &mut self,
        game: &Line<Othello>,
        limits: SearchLimits,
        on_depth: impl FnMut(&SearchResult<Square>),
    ) -> Result<(Square, Option<SearchResult<Square>>), PlayerError> {
        if self.search.is_none() || limits == SearchLimits::default() {
            let control = Arc::new(SearchControl::unlimited());
            self.interrupt.set_search(Some(Arc::clone(&control)));
            self.player.set_control(&control);
            let chosen = self.player.choose(game, &mut self.rng);
            self.interrupt.set_search(None);
            return match chosen {
                Err(PlayerError::Stopped { .. }) => self.choose_at_once(game.position()),
                chosen => Ok((chosen?, None)),
            };
        }
        let time_only = limits.time.is_some() && limits.depth.is_none();
        if time_only {
            self.prepare();
        }
        let prune = time_only || self.pruning.is_explicit;
        let options = SearchOptions { all_moves: false, prune };
        match self.search(game.position(), options, limits, on_depth).as_ref().and_then(best) {
            Some(found) => Ok(found),
            None => self.choose_at_once(game.position()),
        }
    }

    /// Chooses a move by a search of depth 1, after an interrupted search; the first legal move if that
    /// fails too.
    fn choose_at_once(
        &mut self,
        position: &Othello,
    ) -> Result<(Square, Option<SearchResult<Square>>), PlayerError> {
        let options = SearchOptions { all_moves: false, prune: false };
        let control = Arc::new(SearchControl::unlimited());
        let found = self.search_to_depth(position, options, 1, &control, |_| {});
        let first_legal = || position.moves().next().map(|mv| (mv, None));
        let stopped = || PlayerError::Stopped { player: self.name.clone() };
        // The selective search has values in discs; this search has not, so only its move is used.
        let chosen = found.as_ref().and_then(best).map(|(mv, result)| match self.selective {
            Some(_) => (mv, None),
            None => (mv, result),
        });
        chosen.or_else(first_legal).ok_or_else(stopped)
    }

    /// Evaluates all moves, or only the best; `None` if the player does not evaluate positions or
    /// was stopped before depth 1.
    pub fn evaluate(
        &mut self,
        position: &Othello,
        all_moves: bool,
        limits: SearchLimits,
        on_depth: impl FnMut(&SearchResult<Square>),
    ) -> Option<SearchResult<Square>> {
        let options = SearchOptions { all_moves, prune: self.pruning.is_explicit };
        self.search(position, options, limits, on_depth)
    }

    /// Searches within the limits until it is interrupted.
    fn search(
        &mut self,
        position: &Othello,
        options: SearchOptions,
        limits: SearchLimits,
        on_depth: impl FnMut(&SearchResult<Square>),
    ) -> Option<SearchResult<Square>> {
        let control = SearchControl::unlimited();
        let control = Arc::new(match limits.time {
            Some(time) => control.with_time(time),
            None => control,
        });
        self.interrupt.set_search(Some(Arc::clone(&control)));
        let depth = limits.depth.unwrap_or(u32::MAX);
        let found = match self.selective.take() {
            Some(search) => {
                let timed = limits.time.is_some() && limits.depth.is_none();
                let exact = if timed { TIMED_EXACT_EMPTIES } else { EXACT_EMPTIES };
                let mut search = search.with_max_depth(depth).with_exact(exact);
                let found = search.run(position, options.all_moves, &control, on_depth);
                self.selective = Some(search);
                found
            }
            None => self.search_to_depth(position, options, depth, &control, on_depth),
        };
        self.interrupt.set_search(None);
        found
    }

    fn search_to_depth(
        &mut self,
        position: &Othello,
        options: SearchOptions,
        depth: u32,
        control: &Arc<SearchControl>,
        on_depth: impl FnMut(&SearchResult<Square>),
    ) -> Option<SearchResult<Square>> {
        let probcut = self.pruning.probcut.clone().filter(|_| options.prune);
        let mut search = self.search.take()?.with_max_depth(depth).with_probcut(probcut);
        let found = search.run(position, options.all_moves, control, on_depth);
        self.search = Some(search);
        found
    }
}

/// Returns the best move of a search with the search result.
fn best(found: &SearchResult<Square>) -> Option<(Square, Option<SearchResult<Square>>)> {
    found.moves.first().map(|scored| (scored.mv, Some(found.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_players::SearchScore;

    #[test]
    fn a_player_with_the_selective_search_uses_it_within_limits() {
        let mut engine = AnalysisEngine::new("champion@mpc4?name=x", 1, 1).unwrap();
        assert_eq!(engine.scale(), Some(DiscScale::DISCS));
        let game = Line::<Othello>::default();
        let depth = SearchLimits { depth: Some(6), time: None };
        let (_, found) = engine.choose(&game, depth, |_| {}).unwrap();
        let found = found.unwrap();
        // All first moves are symmetric, and the start is balanced within a few discs.
        assert_eq!(found.depth, 6);
        let score = found.moves[0].score;
        assert!(matches!(score, SearchScore::Estimate(discs) if discs.abs() < 8.0), "{score:?}");
        let all = engine.evaluate(game.position(), true, depth, |_| {}).unwrap();
        assert_eq!(all.moves.len(), 4);
        let time = SearchLimits { depth: None, time: Some(Duration::from_millis(20)) };
        let (mv, _) = engine.choose(&game, time, |_| {}).unwrap();
        assert!(game.position().moves().any(|legal| legal == mv));
        // Other players keep their search and scale.
        let mut other = AnalysisEngine::new("champion@4", 1, 1).unwrap();
        assert_ne!(other.scale(), Some(DiscScale::DISCS));
    }
}
