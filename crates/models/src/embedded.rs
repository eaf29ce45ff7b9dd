//! What the program knows without any file.

use crate::files::{AnyHeuristic, read_heuristic, unpack};
use crate::nets::PolicyNet;
use crate::{
    Evaluate, Heuristic, Model, Net, Network, Patterns, PieceCounter, Tuples, from_piece_counter,
};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use std::sync::{Arc, OnceLock};

/// Fills the 64 squares from the ten values of one eighth of the board, by rows:
/// a1 b1 c1 d1, b2 c2 d2, c3 d3, d4.
const fn mirrored(eighth: [f32; 10]) -> PieceCounter {
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
        weights[square] = eighth[first_of_row + column - row];
        square += 1;
    }
    weights
}

/// The Othello League's standard heuristic.
pub const HEURISTIC: PieceCounter =
    mirrored([1.0, -0.25, 0.1, 0.05, -0.25, 0.01, 0.01, 0.05, 0.02, 0.01]);

/// The weights of Yoshioka, Ishii and Ito (1999), as in paper 4's Figure 3.
pub const YOSHIOKA: PieceCounter =
    mirrored([100.0, -25.0, 10.0, 5.0, -25.0, 2.0, 2.0, 5.0, 1.0, 2.0]);

/// The 15 tuples of paper 0's Table I, without their symmetric images.
pub const TABLE1: [&[u8]; 15] = [
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

/// The League's standard heuristic as a network.
#[must_use]
pub fn heuristic() -> Network {
    from_piece_counter(&HEURISTIC)
}

/// Yoshioka's weights as a network.
#[must_use]
pub fn yoshioka() -> Network {
    from_piece_counter(&YOSHIOKA)
}

/// The best preference-learned player: patterns of the whole board by stage of the game, learned
/// from the choices of experts from 1977 to 2012.
///
/// `data/README.md` says how to learn it again. It takes a few hundredths of a second to unpack when
/// it is first asked for.
#[must_use]
pub fn ipref() -> Option<Arc<Patterns>> {
    static IPREF: OnceLock<Option<Arc<Patterns>>> = OnceLock::new();
    IPREF.get_or_init(|| packed(include_bytes!("../data/ipref.pack"))).clone()
}

/// The strongest player that looks one ply ahead: patterns of the whole board by stage of the game,
/// learned by playing itself and the League's heuristic. Its worth is the logarithm of the odds that
/// the player who just moved wins, so that it serves a search as well.
#[must_use]
pub fn champion() -> Option<Arc<Patterns>> {
    CHAMPION.get_or_init(|| packed(CHAMPION_FILE)).clone()
}

/// The file that [`champion`] is unpacked from: its checksum says which champion this program has.
pub const CHAMPION_FILE: &[u8] = include_bytes!("../data/champion.pack");

static CHAMPION: OnceLock<Option<Arc<Patterns>>> = OnceLock::new();

/// Whether a model is the one that [`champion`] gives; another with the same weights is not.
#[must_use]
pub fn is_champion(model: &dyn Evaluate<Othello>) -> bool {
    // Nobody has it before it was unpacked.
    let champion = CHAMPION.get().and_then(Option::as_ref);
    champion.is_some_and(|champion| std::ptr::addr_eq(model, Arc::as_ptr(champion)))
}

/// Paper 3's best network, the strongest player that does not look ahead: it learned from the different
/// positions of the WTHOR base. It rates moves and says nothing of positions, so that it cannot search.
#[must_use]
pub fn cnn() -> Option<Arc<Deep>> {
    static CNN: OnceLock<Option<Arc<Deep>>> = OnceLock::new();
    CNN.get_or_init(|| deep(include_bytes!("../data/cnn.pack"))).clone()
}

/// The network that knows what experts would play: the same, but it learned from their moves as often as they
/// made them. [`Deep::odds`] has its answer.
#[must_use]
pub fn experts() -> Option<Arc<Deep>> {
    static EXPERTS: OnceLock<Option<Arc<Deep>>> = OnceLock::new();
    EXPERTS.get_or_init(|| deep(include_bytes!("../data/experts.pack"))).clone()
}

fn deep(packed: &[u8]) -> Option<Arc<Deep>> {
    match unpack(packed) {
        Ok((Model::PolicyNet(deep), _)) => Some(deep),
        _ => None,
    }
}

/// A small neural network that learned by temporal differences from games with another of its kind: 192
/// inputs, 32 sets of eight nodes that share their weights by symmetry, layers of 16 and 8.
#[must_use]
pub fn ann() -> Option<Arc<Net>> {
    static ANN: OnceLock<Option<Arc<Net>>> = OnceLock::new();
    ANN.get_or_init(|| match unpack(include_bytes!("../data/ann.pack")) {
        Ok((Model::Mlp(net), _)) => Some(net),
        _ => None,
    })
    .clone()
}

/// The best heuristic of Othello that Gaussian-process preferences found, for a search of four plies.
#[must_use]
pub fn gp() -> Option<Heuristic<Othello>> {
    match read_heuristic(include_str!("../data/gp.toml")) {
        Ok((AnyHeuristic::Othello(heuristic), _)) => Some(heuristic),
        _ => None,
    }
}

/// The best heuristic of checkers that Gaussian-process preferences found, likewise.
#[must_use]
pub fn gp_checkers() -> Option<Heuristic<Checkers>> {
    match read_heuristic(include_str!("../data/gp-checkers.toml")) {
        Ok((AnyHeuristic::Checkers(heuristic), _)) => Some(heuristic),
        _ => None,
    }
}

/// A model that is part of the program, of whichever game.
pub enum Embedded {
    /// Of Othello.
    Model(Model),
    /// Named features of either game.
    Heuristic(AnyHeuristic),
}

/// The models that need no file, by name.
pub const NAMES: [&str; 9] =
    ["champion", "ipref", "cnn", "experts", "ann", "heuristic", "yoshioka", "gp", "gp-checkers"];

/// The embedded model of this name, one of [`NAMES`].
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

/// A model that is part of the program; there is none only if the program was built from damaged
/// files, which the tests would show.
fn packed(bytes: &[u8]) -> Option<Arc<Patterns>> {
    match unpack(bytes) {
        Ok((Model::Patterns(patterns), _)) => Some(patterns),
        _ => None,
    }
}

/// The N-tuple features of paper 0: 15 symmetric tuples, 6,561 weights.
#[must_use]
pub fn table1() -> Tuples {
    Tuples::symmetric(&TABLE1).unwrap_or_else(|_| Tuples::squares())
}
