//! The players that are embedded in the program.

use outflank_games::Game;

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
pub const EMBEDDED_PLAYERS: [EmbeddedPlayer; 12] = [
    EmbeddedPlayer {
        name: "champion",
        game: Game::Othello,
        kind: "patterns",
        about: "trained on 6.1 million games of self-play and against heuristic; patterns by stage, 5 million weights",
    },
    EmbeddedPlayer {
        name: "ipref",
        game: Game::Othello,
        kind: "patterns",
        about: "trained on expert moves, 1977 to 2012 (iPref); patterns by stage, 7.5 million weights",
    },
    EmbeddedPlayer {
        name: "cnn",
        game: Game::Othello,
        kind: "policy network",
        about: "trained to predict expert moves, 1977 to 2015; 8 convolutional layers, 4.4 million weights",
    },
    EmbeddedPlayer {
        name: "experts",
        game: Game::Othello,
        kind: "policy network",
        about: "trained on all expert moves up to 2012, duplicates included; same architecture as cnn",
    },
    EmbeddedPlayer {
        name: "ann",
        game: Game::Othello,
        kind: "neural network",
        about: "trained on a million games against a second network; 6,849 weights shared by symmetry",
    },
    EmbeddedPlayer {
        name: "heuristic",
        game: Game::Othello,
        kind: "piece counter",
        about: "standard weighted piece counter (WPC) of the Othello League, 64 weights",
    },
    EmbeddedPlayer {
        name: "yoshioka",
        game: Game::Othello,
        kind: "piece counter",
        about: "weights of Yoshioka, Ishii and Ito (1999), 64 weights",
    },
    EmbeddedPlayer {
        name: "gp",
        game: Game::Othello,
        kind: "named features",
        about: "trained by Gaussian-process preference learning; 8 named features, intended for search depth 4 (gp@4)",
    },
    EmbeddedPlayer {
        name: "random",
        game: Game::Othello,
        kind: "random",
        about: "uniformly random legal moves",
    },
    EmbeddedPlayer {
        name: "material",
        game: Game::Checkers,
        kind: "piece counter",
        about: "men, kings and the advancement of men",
    },
    EmbeddedPlayer {
        name: "gp-checkers",
        game: Game::Checkers,
        kind: "named features",
        about: "trained by Gaussian-process preference learning; 6 named features, intended for search depth 4 (gp-checkers@4)",
    },
    EmbeddedPlayer {
        name: "random",
        game: Game::Checkers,
        kind: "random",
        about: "uniformly random legal moves",
    },
];
