//! Models compiled into the program. `data/README.md` has a model card for each.

use crate::files::{AnyHeuristic, read_heuristic_for, unpack};
use crate::nets::PolicyNet;
use crate::{
    Evaluate, Heuristic, Mlp, Model, NTupleNetwork, Patterns, PieceCounter, Tuples,
    from_piece_counter,
};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use std::sync::{Arc, OnceLock};

/// Expands the ten weights of one octant, by rows (a1 b1 c1 d1, b2 c2 d2, c3 d3, d4), to the whole
/// board.
const fn from_octant(octant: [f32; 10]) -> PieceCounter {
    let mut weights = [0.0; 64];
    let mut square = 0;
    while square < 64 {
        let (mut column, mut row) = (square % 8, square / 8);
        if column > 3 {
            column = 7 - column;
        }
        if row > 3 {
            row = 7 - row;
        }
        if row > column {
            (column, row) = (row, column);
        }
        let first_of_row = [0, 4, 7, 9][row];
        weights[square] = octant[first_of_row + column - row];
        square += 1;
    }
    weights
}

/// The standard heuristic of the Othello League.
pub const HEURISTIC: PieceCounter =
    from_octant([1.0, -0.25, 0.1, 0.05, -0.25, 0.01, 0.01, 0.05, 0.02, 0.01]);

/// The weights of Yoshioka, Ishii & Ito (1999), as in Binkley, Seehart & Hagiwara (2007), Figure 3.
pub const YOSHIOKA: PieceCounter =
    from_octant([100.0, -25.0, 10.0, 5.0, -25.0, 2.0, 2.0, 5.0, 1.0, 2.0]);

/// The 15 tuples of Runarsson & Lucas (2014), Table I, one placement each.
pub const RUNARSSON_LUCAS_TUPLES: [&[u8]; 15] = [
    &[25, 34, 27, 19, 28],
    &[43, 44, 60, 53, 6, 7],
    &[56, 48, 40, 9, 1, 0],
    &[48, 49, 5, 63],
    &[58, 2, 3, 20, 12],
    &[46, 38, 22, 45, 29],
    &[17, 16, 31, 24, 39, 32],
    &[3, 4, 13, 21],
    &[5, 60, 12, 3, 2, 57],
    &[0, 56, 49, 57, 50, 43],
    &[46, 37, 45, 36, 52, 43],
    &[14, 6, 5, 12, 4, 3],
    &[63, 48, 40, 7],
    &[15, 9, 16, 8, 0],
    &[51, 50, 43, 42, 34],
];

/// Returns the standard heuristic of the Othello League as a network.
#[must_use]
pub fn heuristic() -> NTupleNetwork {
    from_piece_counter(&HEURISTIC)
}

/// Returns Yoshioka's weights as a network.
#[must_use]
pub fn yoshioka() -> NTupleNetwork {
    from_piece_counter(&YOSHIOKA)
}

/// Returns the strongest model trained by preference learning: patterns per game stage, trained on
/// expert moves from 1977 to 2012.
///
/// The first call unpacks the model, which takes some tens of milliseconds.
#[must_use]
pub fn ipref() -> Option<Arc<Patterns>> {
    static IPREF: OnceLock<Option<Arc<Patterns>>> = OnceLock::new();
    IPREF.get_or_init(|| unpack_patterns(include_bytes!("../data/ipref.pack"))).clone()
}

/// Returns the strongest model for one-ply lookahead: patterns per game stage, trained by self-play
/// and games against the League's heuristic.
///
/// Its value is the logit of the probability that the side that just moved wins, so it is also
/// suitable for search.
#[must_use]
pub fn champion() -> Option<Arc<Patterns>> {
    CHAMPION.get_or_init(|| unpack_patterns(CHAMPION_FILE)).clone()
}

/// The packed file of [`champion`]. Its checksum identifies the version.
pub const CHAMPION_FILE: &[u8] = include_bytes!("../data/champion.pack");

static CHAMPION: OnceLock<Option<Arc<Patterns>>> = OnceLock::new();

/// Returns whether `model` is the instance returned by [`champion`].
#[must_use]
pub fn is_champion(model: &dyn Evaluate<Othello>) -> bool {
    let champion = CHAMPION.get().and_then(Option::as_ref);
    champion.is_some_and(|champion| std::ptr::addr_eq(model, Arc::as_ptr(champion)))
}

/// Returns the policy network of Liskowski, Jaśkowski & Krawiec (2018), the strongest model that
/// plays without lookahead.
///
/// It was trained on the distinct positions of WTHOR. It scores moves and has no position value, so
/// alpha-beta search cannot use it.
#[must_use]
pub fn cnn() -> Option<Arc<PolicyNet>> {
    static CNN: OnceLock<Option<Arc<PolicyNet>>> = OnceLock::new();
    CNN.get_or_init(|| unpack_policy_net(outflank_model_cnn::FILE)).clone()
}

/// Returns the policy network that predicts expert moves: the architecture of [`cnn`], trained on
/// all expert moves with their frequencies. See [`PolicyNet::move_probabilities`].
#[must_use]
pub fn experts() -> Option<Arc<PolicyNet>> {
    static EXPERTS: OnceLock<Option<Arc<PolicyNet>>> = OnceLock::new();
    EXPERTS.get_or_init(|| unpack_policy_net(outflank_model_experts::FILE)).clone()
}

fn unpack_policy_net(packed: &[u8]) -> Option<Arc<PolicyNet>> {
    match unpack(packed) {
        Ok((Model::PolicyNet(net), _)) => Some(net),
        _ => None,
    }
}

/// Returns a small MLP trained by TD(0) in games against a second one: 192 inputs, 32 sets of eight
/// units with shared weights, and layers of 16 and 8 units.
#[must_use]
pub fn ann() -> Option<Arc<Mlp>> {
    static ANN: OnceLock<Option<Arc<Mlp>>> = OnceLock::new();
    ANN.get_or_init(|| match unpack(include_bytes!("../data/ann.pack")) {
        Ok((Model::Mlp(mlp), _)) => Some(mlp),
        _ => None,
    })
    .clone()
}

/// Returns the best Othello heuristic found by Gaussian-process preference learning, for search
/// depth 4.
#[must_use]
pub fn gp() -> Option<Heuristic<Othello>> {
    Some(read_heuristic_for(include_str!("../data/gp.toml")).ok()?.0)
}

/// Returns the best checkers heuristic found by Gaussian-process preference learning, for search
/// depth 4.
#[must_use]
pub fn gp_checkers() -> Option<Heuristic<Checkers>> {
    Some(read_heuristic_for(include_str!("../data/gp-checkers.toml")).ok()?.0)
}

/// An embedded model.
pub enum Embedded {
    /// A model for Othello.
    Model(Model),
    /// A linear heuristic for any game.
    Heuristic(AnyHeuristic),
}

/// The names of all embedded models.
pub const NAMES: [&str; 9] =
    ["champion", "ipref", "cnn", "experts", "ann", "heuristic", "yoshioka", "gp", "gp-checkers"];

/// Returns the embedded model with this name, one of [`NAMES`].
#[must_use]
pub fn find(name: &str) -> Option<Embedded> {
    let patterns = |found: Option<Arc<Patterns>>| Some(Embedded::Model(Model::Patterns(found?)));
    match name {
        "champion" => patterns(champion()),
        "ipref" => patterns(ipref()),
        "cnn" => Some(Embedded::Model(Model::PolicyNet(cnn()?))),
        "experts" => Some(Embedded::Model(Model::PolicyNet(experts()?))),
        "ann" => Some(Embedded::Model(Model::Mlp(ann()?))),
        "heuristic" => Some(Embedded::Model(heuristic().into())),
        "yoshioka" => Some(Embedded::Model(yoshioka().into())),
        "gp" => Some(Embedded::Heuristic(gp()?.into())),
        "gp-checkers" => Some(Embedded::Heuristic(gp_checkers()?.into())),
        _ => None,
    }
}

/// Unpacks an embedded pattern model. `None` means a damaged build; the tests detect it.
fn unpack_patterns(bytes: &[u8]) -> Option<Arc<Patterns>> {
    match unpack(bytes) {
        Ok((Model::Patterns(patterns), _)) => Some(patterns),
        _ => None,
    }
}

/// Returns the n-tuple features of Runarsson & Lucas (2014): 15 symmetric tuples, 6,561 weights.
#[must_use]
pub fn runarsson_lucas_tuples() -> Tuples {
    Tuples::symmetric(&RUNARSSON_LUCAS_TUPLES).unwrap_or_else(|_| Tuples::squares())
}
