//! The player behind a protocol: it chooses moves as it was described, or by a search of its model
//! when the other side sets a depth or a clock, and tells what it thinks of each move.

use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position};
use outflank_players::roster::{self, Model, RosterError};
use outflank_players::{
    Control, Cuts, Deepening, Fault, Player, Searchable, Spec, Thought, Verdict,
};
use outflank_runs::Rng;
use outflank_runs::rng::stream;
use std::sync::{Arc, Mutex, PoisonError};
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

/// The search that is under way, for whoever may have to stop it.
#[derive(Clone, Default)]
pub struct Current(Arc<Mutex<Option<Arc<Control>>>>);

impl Current {
    /// Stops the search that is under way, if there is one.
    pub fn stop(&self) {
        let current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(control) = &*current {
            control.stop();
        }
    }

    /// Says which search is under way.
    pub(crate) fn set(&self, control: Option<Arc<Control>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = control;
    }
}

/// A player of Othello that can be asked.
pub struct Brain {
    name: String,
    player: Box<dyn Player<Othello>>,
    search: Option<Deepening<Othello>>,
    rng: Rng,
    /// The search under way.
    pub current: Current,
}

impl Brain {
    /// The player that a text describes.
    pub fn new(text: &str, threads: usize, seed: u64) -> Result<Brain, RosterError> {
        let entry = roster::entry::<Othello>(text)?;
        let player = entry.make()?;
        let spec: Spec = text.parse()?;
        let is_engine = spec.model.starts_with("nboard:") || spec.model.starts_with("gtp:");
        let model = if is_engine { None } else { Some(roster::find_model::<Othello>(&spec)?) };
        let search = match model {
            Some(Model::Value(value)) => {
                let cuts = spec.cut.map(|times| Arc::new(Cuts::measure(&value, times as f32)));
                let mut search = Deepening::new(value, TABLE_BITS).with_threads(threads);
                if let Some(cuts) = cuts {
                    search = search.with_cuts(cuts);
                }
                Some(match Othello::far_endgame(FAR_ENDGAME, threads) {
                    Some(endgame) => search.with_endgame(endgame),
                    None => search,
                })
            }
            _ => None,
        };
        let rng = stream(seed, &["engine", &entry.name]);
        Ok(Brain { name: entry.name, player, search, rng, current: Current::default() })
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A new game begins.
    pub fn begin(&mut self) -> Result<(), Fault> {
        self.player.begin()
    }

    /// A move for a game that goes on, and what it is thought to be worth.
    pub fn choose(
        &mut self,
        game: &Line<Othello>,
        allowance: Allowance,
    ) -> Result<(Square, Option<Verdict>), Fault> {
        if allowance != Allowance::default()
            && let Some(thought) = self.think(game.position(), false, allowance, |_| {})
            && let Some(best) = thought.moves.first()
        {
            return Ok((best.mv, Some(best.verdict)));
        }
        Ok((self.player.choose(game, &mut self.rng)?, None))
    }

    /// What it thinks of each move, or of the best; `None` when it cannot say.
    pub fn think(
        &mut self,
        position: &Othello,
        each: bool,
        allowance: Allowance,
        say: impl FnMut(&Thought<Square>),
    ) -> Option<Thought<Square>> {
        let search = self.search.take()?;
        let mut search = search.to_depth(allowance.depth.unwrap_or(u32::MAX));
        let control = Control::unlimited();
        let control = Arc::new(match allowance.time {
            Some(time) => control.with_time(time),
            None => control,
        });
        self.current.set(Some(Arc::clone(&control)));
        let thought = match position.is_over() {
            true => None,
            false => search.think(position, each, &control, say),
        };
        self.current.set(None);
        self.search = Some(search);
        thought
    }
}
