//! Monte-Carlo tree search: UCT with a fixed number of simulations.

use crate::choice::pick;
use crate::greedy::Greedy;
use crate::random::{game_over, random_move};
use crate::searchable::Searchable;
use crate::{SearchControl, PlayerError, Player};
use outflank_games::{Line, Side};
use outflank_models::Policy;
use outflank_runs::{RngExt, Rng};
use std::sync::Arc;

/// The largest tree, in nodes; simulations beyond it still count, but open no more positions.
const MOST_NODES: usize = 1 << 22;

/// How often a guided playout plays a random move.
const GUIDED_RANDOM: f64 = 0.1;

/// Plays many games to the end and the move that was tried most.
///
/// Each simulation walks down the tree, at every position to a move not yet tried (in random
/// order) or else to the one with the highest `w/n + c * sqrt(ln N / n)`: `w` is what the mover
/// scored in the `n` games through that move, a win 1 and a draw 1/2, and `N` counts the games
/// through the position. The first position that is new to the tree is played out to the end with
/// random moves, and the result is counted along the way back; the margin does not matter. In the
/// end the move with the most games is played, at random among equals.
///
/// With a model the playouts are not random: each of their moves is the model's
/// [`Greedy`](crate::Greedy) choice, except for one in ten (drawn for each move) that is random,
/// without which all playouts of a position would be the same game.
///
/// The tree is made anew for each move, so nothing is remembered from one to the next.
pub struct Mcts<P: Searchable> {
    simulations: u32,
    exploration: f64,
    guide: Option<Greedy<P>>,
    nodes: Vec<Node<P::Move>>,
    path: Vec<usize>,
    moves: Vec<P::Move>,
    control: Arc<SearchControl>,
}

/// A move of the tree, and the position behind it.
struct Node<M> {
    /// The move that leads here, `None` at the root.
    mv: Option<M>,
    /// Who made it.
    mover: Side,
    /// Games through this move, and what the mover scored in them, in half points.
    games: u32,
    half_points: u32,
    /// Where the replies lie, once the position was opened, and how many were tried so far.
    replies: Option<(u32, u32)>,
    tried: u32,
}

impl<P: Searchable> Mcts<P> {
    /// A player with so many simulations a move, at least 1 and at most 2^30.
    #[must_use]
    pub fn new(simulations: u32) -> Mcts<P> {
        Mcts {
            simulations: simulations.clamp(1, 1 << 30),
            exploration: std::f64::consts::SQRT_2,
            guide: None,
            nodes: Vec::new(),
            path: Vec::new(),
            moves: Vec::new(),
            control: Arc::new(SearchControl::unlimited()),
        }
    }

    /// The same player with playouts guided by a model.
    #[must_use]
    pub fn with_guide(mut self, policy: Arc<dyn Policy<P>>) -> Mcts<P> {
        self.guide = Some(Greedy::new(policy));
        self
    }

    /// The same player with another constant `c`; it is the square root of 2 unless said.
    #[must_use]
    pub fn with_exploration(mut self, exploration: f64) -> Mcts<P> {
        self.exploration = exploration;
        self
    }

    /// How often each move was tried, in the order of [`Position::moves`], and the half points
    /// that the side to move scored with it; empty when the game is over. Less was tried than was
    /// asked for when it was stopped.
    ///
    /// [`Position::moves`]: outflank_games::Position::moves
    pub fn search(&mut self, position: &P, rng: &mut Rng) -> Vec<(P::Move, u32, u32)> {
        self.nodes.clear();
        self.nodes.push(Node {
            mv: None,
            mover: position.to_move().other(),
            games: 0,
            half_points: 0,
            replies: None,
            tried: 0,
        });
        self.open(0, position, rng);
        for _ in 0..self.simulations {
            // A simulation takes microseconds, so asking each time costs nothing.
            if self.control.stopped() {
                break;
            }
            self.simulate(*position, rng);
        }
        let tried = self.replies(0);
        let count = |mv| tried.iter().find(|node| node.mv == Some(mv));
        position
            .moves()
            .map(|mv| count(mv).map_or((mv, 0, 0), |node| (mv, node.games, node.half_points)))
            .collect()
    }

    /// One game, from the root through the tree and on to the end.
    fn simulate(&mut self, root: P, rng: &mut Rng) {
        self.path.clear();
        self.path.push(0);
        let mut position = root;
        let mut at = 0;
        while let Some(next) = self.descend(at, &position, rng) {
            let Some(mv) = self.nodes.get(next).and_then(|node| node.mv) else { break };
            position = position.play(mv);
            self.path.push(next);
            at = next;
        }
        let margin = match &mut self.guide {
            None => position.playout(rng),
            Some(guide) => guided_playout(position, guide, rng),
        };
        for &at in &self.path {
            if let Some(node) = self.nodes.get_mut(at) {
                node.games += 1;
                node.half_points += (1 + (node.mover.sign() * margin).signum()) as u32;
            }
        }
    }

    /// The node to go to from this one, `None` when the playout begins here.
    fn descend(&mut self, at: usize, position: &P, rng: &mut Rng) -> Option<usize> {
        let node = self.nodes.get(at)?;
        // A position is opened when it is reached for the second time.
        if node.replies.is_none() && node.games > 0 {
            self.open(at, position, rng);
        }
        let node = self.nodes.get_mut(at)?;
        let (first, count) = node.replies?;
        if node.tried < count {
            node.tried += 1;
            return Some((first + node.tried - 1) as usize);
        }
        let logarithm = libm::log(f64::from(node.games));
        let mut best = None;
        for (offset, reply) in self.replies(at).iter().enumerate() {
            let games = f64::from(reply.games);
            let mean = f64::from(reply.half_points) / (2.0 * games);
            let bound = mean + self.exploration * (logarithm / games).sqrt();
            if best.is_none_or(|(most, _)| bound > most) {
                best = Some((bound, first as usize + offset));
            }
        }
        best.map(|(_, next)| next)
    }

    /// Adds the replies of a position to the tree, in random order.
    fn open(&mut self, at: usize, position: &P, rng: &mut Rng) {
        self.moves.clear();
        self.moves.extend(position.moves());
        let first = self.nodes.len();
        if first + self.moves.len() > MOST_NODES {
            return;
        }
        rng.shuffle(&mut self.moves);
        let mover = position.to_move();
        self.nodes.extend(self.moves.iter().map(|&mv| Node {
            mv: Some(mv),
            mover,
            games: 0,
            half_points: 0,
            replies: None,
            tried: 0,
        }));
        if let Some(node) = self.nodes.get_mut(at) {
            node.replies = Some((first as u32, self.moves.len() as u32));
        }
    }

    fn replies(&self, at: usize) -> &[Node<P::Move>] {
        let replies = self.nodes.get(at).and_then(|node| node.replies);
        let (first, count) = replies.unwrap_or((0, 0));
        self.nodes.get(first as usize..(first + count) as usize).unwrap_or(&[])
    }
}

/// Plays to the end as the guide says, with random moves in between; returns Black's margin.
fn guided_playout<P: Searchable>(position: P, guide: &mut Greedy<P>, rng: &mut Rng) -> i32 {
    let mut position = position;
    loop {
        if let Some(margin) = position.margin() {
            return margin;
        }
        let mv = if rng.chance(GUIDED_RANDOM) {
            random_move(&position, rng)
        } else {
            guide.pick(&position, rng)
        };
        match mv {
            Some(mv) => position = position.play(mv),
            None => return 0,
        }
    }
}

impl<P: Searchable> Player<P> for Mcts<P> {
    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        let position = game.position();
        if position.moves().nth(1).is_none() {
            return position.moves().next().ok_or_else(|| game_over("mcts"));
        }
        let tried = self.search(position, rng);
        if self.control.stopped() {
            return Err(PlayerError::Stopped { player: "mcts".to_owned() });
        }
        let most = tried.iter().map(|&(_, games, _)| games).max();
        self.moves.clear();
        self.moves.extend(tried.iter().filter(|t| Some(t.1) == most).map(|t| t.0));
        pick(&self.moves, rng).ok_or_else(|| game_over("mcts"))
    }

    fn obey(&mut self, control: &Arc<SearchControl>) {
        self.control = Arc::clone(control);
    }
}
