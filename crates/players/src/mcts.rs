//! Monte-Carlo tree search (UCT) with a fixed number of simulations.

use crate::greedy::Greedy;
use crate::random::{game_over, random_move};
use crate::searchable::Searchable;
use crate::tie_break::pick;
use crate::{Player, PlayerError, SearchControl};
use outflank_games::{Line, Side};
use outflank_models::Policy;
use outflank_runs::{Rng, RngExt};
use std::sync::Arc;

/// Maximum tree size in nodes. Once it is reached, simulations continue without expanding nodes.
const MAX_NODES: usize = 1 << 22;

/// The exploration constant `c` of UCT.
const EXPLORATION: f64 = std::f64::consts::SQRT_2;

/// Probability of a random move in a playout with a rollout policy.
const ROLLOUT_EPSILON: f64 = 0.1;

/// A player that searches by UCT.
///
/// Each simulation descends the tree. At each node it selects a move that was not tried before, in
/// random order, or else the move that maximizes `w/n + c * sqrt(ln N / n)`. Here `w` is the score
/// of the side to move in the `n` simulations of that move (win 1, draw 1/2), and `N` is the number
/// of simulations of the node. At the first position outside the tree a random playout starts; its
/// result (win, draw or loss) is backpropagated. The player chooses the move with the most
/// simulations, at random among ties.
///
/// With a rollout policy, playouts follow [`Greedy`](crate::Greedy), with a random move with
/// probability 0.1; without random moves all playouts of a position would be identical.
///
/// The tree is rebuilt for each move.
pub struct Mcts<P: Searchable> {
    simulations: u32,
    rollout: Option<Greedy<P>>,
    nodes: Vec<Node<P::Move>>,
    /// The nodes of the current simulation, root first.
    path: Vec<usize>,
    moves: Vec<P::Move>,
    control: Arc<SearchControl>,
}

/// The visit statistics of a move at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveStats<M> {
    /// The move.
    pub mv: M,
    /// Number of simulations of the move.
    pub visits: u32,
    /// Half points that the side to move scored in them: 2 per win, 1 per draw.
    pub half_points: u32,
}

/// A tree node: a move and the position it leads to.
struct Node<M> {
    /// The move that leads here; `None` at the root.
    mv: Option<M>,
    /// The side that made the move.
    mover: Side,
    /// Number of simulations.
    visits: u32,
    /// Half points of the mover in these simulations.
    half_points: u32,
    /// Index of the first child and number of children, once the node is expanded.
    children: Option<(u32, u32)>,
    /// Number of children that have been tried.
    tried: u32,
}

impl<P: Searchable> Mcts<P> {
    /// Creates a player with this many simulations per move, clamped to 1..=2^30.
    #[must_use]
    pub fn new(simulations: u32) -> Mcts<P> {
        Mcts {
            simulations: simulations.clamp(1, 1 << 30),
            rollout: None,
            nodes: Vec::new(),
            path: Vec::new(),
            moves: Vec::new(),
            control: Arc::new(SearchControl::unlimited()),
        }
    }

    /// Sets the policy of the playouts, which are random otherwise.
    #[must_use]
    pub fn with_rollout_policy(mut self, policy: Arc<dyn Policy<P>>) -> Mcts<P> {
        self.rollout = Some(Greedy::new(policy));
        self
    }

    /// Searches a position and returns the statistics of its moves, in the order of
    /// [`Position::moves`]. Returns an empty list if the game is over, and fewer simulations if the
    /// search was stopped.
    ///
    /// [`Position::moves`]: outflank_games::Position::moves
    pub fn search(&mut self, position: &P, rng: &mut Rng) -> Vec<MoveStats<P::Move>> {
        self.nodes.clear();
        self.nodes.push(Node {
            mv: None,
            mover: position.to_move().other(),
            visits: 0,
            half_points: 0,
            children: None,
            tried: 0,
        });
        self.expand(0, position, rng);
        for _ in 0..self.simulations {
            // A simulation takes microseconds, so this check costs nothing.
            if self.control.stopped() {
                break;
            }
            self.simulate(*position, rng);
        }
        let children = self.children(0);
        let stats = |mv| {
            let child = children.iter().find(|node| node.mv == Some(mv));
            let (visits, half_points) =
                child.map_or((0, 0), |node| (node.visits, node.half_points));
            MoveStats { mv, visits, half_points }
        };
        position.moves().map(stats).collect()
    }

    /// Runs one simulation: selection, expansion, playout and backpropagation.
    fn simulate(&mut self, root: P, rng: &mut Rng) {
        self.path.clear();
        self.path.push(0);
        let mut position = root;
        let mut index = 0;
        while let Some(next) = self.select_child(index, &position, rng) {
            let Some(mv) = self.nodes.get(next).and_then(|node| node.mv) else { break };
            position = position.play(mv);
            self.path.push(next);
            index = next;
        }
        let result = match &mut self.rollout {
            None => position.playout(rng),
            Some(policy) => policy_playout(position, policy, rng),
        };
        for &index in &self.path {
            if let Some(node) = self.nodes.get_mut(index) {
                node.visits += 1;
                node.half_points += (1 + (node.mover.sign() * result).signum()) as u32;
            }
        }
    }

    /// Returns the index of the child to visit, or `None` if the playout starts at this node.
    fn select_child(&mut self, index: usize, position: &P, rng: &mut Rng) -> Option<usize> {
        let node = self.nodes.get(index)?;
        // A node is expanded on its second visit.
        if node.children.is_none() && node.visits > 0 {
            self.expand(index, position, rng);
        }
        let node = self.nodes.get_mut(index)?;
        let (first, count) = node.children?;
        if node.tried < count {
            node.tried += 1;
            return Some((first + node.tried - 1) as usize);
        }
        let log_visits = libm::log(f64::from(node.visits));
        let mut best = None;
        for (offset, child) in self.children(index).iter().enumerate() {
            let visits = f64::from(child.visits);
            let mean = f64::from(child.half_points) / (2.0 * visits);
            let bound = mean + EXPLORATION * (log_visits / visits).sqrt();
            if best.is_none_or(|(highest, _)| bound > highest) {
                best = Some((bound, first as usize + offset));
            }
        }
        best.map(|(_, next)| next)
    }

    /// Adds the children of a node in random order.
    fn expand(&mut self, index: usize, position: &P, rng: &mut Rng) {
        self.moves.clear();
        self.moves.extend(position.moves());
        let first = self.nodes.len();
        if first + self.moves.len() > MAX_NODES {
            return;
        }
        rng.shuffle(&mut self.moves);
        let mover = position.to_move();
        self.nodes.extend(self.moves.iter().map(|&mv| Node {
            mv: Some(mv),
            mover,
            visits: 0,
            half_points: 0,
            children: None,
            tried: 0,
        }));
        if let Some(node) = self.nodes.get_mut(index) {
            node.children = Some((first as u32, self.moves.len() as u32));
        }
    }

    /// Returns the children of a node, none if it is not expanded.
    fn children(&self, index: usize) -> &[Node<P::Move>] {
        let children = self.nodes.get(index).and_then(|node| node.children);
        let (first, count) = children.unwrap_or((0, 0));
        self.nodes.get(first as usize..(first + count) as usize).unwrap_or(&[])
    }
}

/// Plays to the end of the game with a policy and some random moves. Returns the result.
fn policy_playout<P: Searchable>(position: P, policy: &mut Greedy<P>, rng: &mut Rng) -> i32 {
    let mut position = position;
    loop {
        if let Some(result) = position.result() {
            return result;
        }
        let mv = if rng.chance(ROLLOUT_EPSILON) {
            random_move(&position, rng)
        } else {
            policy.pick(&position, rng)
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
        let stats = self.search(position, rng);
        if self.control.stopped() {
            return Err(PlayerError::Stopped { player: "mcts".to_owned() });
        }
        let most = stats.iter().map(|stats| stats.visits).max();
        self.moves.clear();
        self.moves.extend(stats.iter().filter(|s| Some(s.visits) == most).map(|s| s.mv));
        pick(&self.moves, rng).ok_or_else(|| game_over("mcts"))
    }

    fn set_control(&mut self, control: &Arc<SearchControl>) {
        self.control = Arc::clone(control);
    }
}
