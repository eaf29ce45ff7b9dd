//! The players that are embedded in the program.

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::othello6::Othello6;
use outflank_games::{Game, Position};

/// A player that needs no model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedPlayer {
    /// Name, as used on the command line.
    pub name: &'static str,
    /// The game it plays.
    pub game: Game,
    /// Kind of model.
    pub kind: &'static str,
    /// Description in one line.
    pub about: &'static str,
}

/// All embedded players.
pub const EMBEDDED_PLAYERS: [EmbeddedPlayer; 14] = [
    EmbeddedPlayer {
        name: "champion",
        game: Othello::GAME,
        kind: "patterns",
        about: "trained on 6.1 million games of self-play and against heuristic; patterns by stage, 5 million weights",
    },
    EmbeddedPlayer {
        name: "ipref",
        game: Othello::GAME,
        kind: "patterns",
        about: "trained on expert moves, 1977 to 2012 (iPref); patterns by stage, 7.5 million weights",
    },
    EmbeddedPlayer {
        name: "cnn",
        game: Othello::GAME,
        kind: "policy network",
        about: "trained to predict expert moves, 1977 to 2015; 8 convolutional layers, 4.4 million weights",
    },
    EmbeddedPlayer {
        name: "experts",
        game: Othello::GAME,
        kind: "policy network",
        about: "trained on all expert moves up to 2012, duplicates included; same architecture as cnn",
    },
    EmbeddedPlayer {
        name: "ann",
        game: Othello::GAME,
        kind: "neural network",
        about: "trained on a million games against a second network; 6,849 weights shared by symmetry",
    },
    EmbeddedPlayer {
        name: "heuristic",
        game: Othello::GAME,
        kind: "piece counter",
        about: "standard weighted piece counter (WPC) of the Othello League, 64 weights",
    },
    EmbeddedPlayer {
        name: "yoshioka",
        game: Othello::GAME,
        kind: "piece counter",
        about: "weights of Yoshioka, Ishii and Ito (1999), 64 weights",
    },
    EmbeddedPlayer {
        name: "gp",
        game: Othello::GAME,
        kind: "named features",
        about: "trained by Gaussian-process preference learning; 8 named features, intended for search depth 4 (gp@4)",
    },
    EmbeddedPlayer {
        name: "random",
        game: Othello::GAME,
        kind: "random",
        about: "uniformly random legal moves",
    },
    EmbeddedPlayer {
        name: "material",
        game: Checkers::GAME,
        kind: "piece counter",
        about: "men, kings and the advancement of men",
    },
    EmbeddedPlayer {
        name: "gp-checkers",
        game: Checkers::GAME,
        kind: "named features",
        about: "trained by Gaussian-process preference learning; 6 named features, intended for search depth 4 (gp-checkers@4)",
    },
    EmbeddedPlayer {
        name: "random",
        game: Checkers::GAME,
        kind: "random",
        about: "uniformly random legal moves",
    },
    EmbeddedPlayer {
        name: "corners",
        game: Othello6::GAME,
        kind: "named features",
        about: "corners, then mobility; 5 named features with weights chosen by hand",
    },
    EmbeddedPlayer {
        name: "random",
        game: Othello6::GAME,
        kind: "random",
        about: "uniformly random legal moves",
    },
];
