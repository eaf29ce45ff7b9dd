//! The names that most programs need: `use outflank::prelude::*;`.
//!
//! Play a match and print the score with its 95% confidence interval:
//!
//! ```
//! use outflank::prelude::*;
//!
//! let players = [factory::<Othello>("heuristic")?, factory("random")?];
//! let config = ContestConfig { rounds: 20, ..ContestConfig::default() };
//! let (report, _games) = play_match(&players, &config, None, None, |_, _| true)?;
//! println!("{:.2} ± {:.2}", report.score, report.half_width);
//! assert!(report.score > 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read games in the format WTHOR:
//!
//! ```
//! use outflank::prelude::*;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("WTH_2004.wtb");
//! # convert(&embedded::games()[..50], Format::Wthor, &path, Default::default())?;
//! // `path` is a file such as WTH_2004.wtb, or a folder of them.
//! let loaded = read_games(&[path], &Selection::default(), 1)?;
//! let first = &loaded.records[0];
//! assert_eq!(loaded.records.len(), 50);
//! assert_eq!(first.start(), &Othello::start());
//! assert!(first.plies().len() >= 30);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Train a model by iPref and measure its accuracy on other games:
//!
//! ```
//! use outflank::prelude::*;
//!
//! let games = embedded::games();
//! let (training, test) = (&games[..200], &games[200..300]);
//! let choices = decisions(training, &DecisionFilter::CHOICES);
//! let data = TrainingData::new(training, choices.items(), Tuples::squares());
//! let trained = train(Method::IPref, data, &MethodOptions::default(), 1, &mut |_| true)?;
//! let test = decisions(test, &DecisionFilter::CHOICES);
//! let accuracy = accuracy(&*trained.model.policy(), test.items());
//! assert!(accuracy.choices.percent() > 20.0); // random moves reach about 13%
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Play a league and rate its players:
//!
//! ```
//! use outflank::prelude::*;
//!
//! let names = ["heuristic", "random", "random@mcts20"].map(factory::<Othello>);
//! let players = names.into_iter().collect::<Result<Vec<_>, _>>()?;
//! let config = ContestConfig { rounds: 10, ..ContestConfig::default() };
//! let league = play_league(&players, &config, None, |_, _| true)?;
//! let report = league.report(&RatingConfig::default())?;
//! assert_eq!(report.players[2].name, "random");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use outflank_arena::league::{League, LeagueReport, play_league};
pub use outflank_arena::matches::{MatchReport, play_match};
pub use outflank_arena::ratings::RatingConfig;
pub use outflank_arena::sprt::Sprt;
pub use outflank_arena::{ContestConfig, PlayedGame, accuracy, play_game};
pub use outflank_games::checkers::Checkers;
pub use outflank_games::contract::check_game;
pub use outflank_games::othello::{Othello, Square};
pub use outflank_games::othello6::Othello6;
pub use outflank_games::{Game, Line, MoveError, Position, Side};
pub use outflank_learners::contract::check_learner;
pub use outflank_learners::methods::{Method, MethodOptions, TrainingData, train};
pub use outflank_learners::training::{
    Learner, NoEvaluator, StepError, Trainer, TrainingOutcome, TrainingPlan,
};
pub use outflank_models::contract::{check_evaluator, check_policy};
pub use outflank_models::files::Origin;
pub use outflank_models::{
    Evaluate, Features, Heuristic, Model, NTupleGame, NTupleNetwork, NamedFeatures, OnePlyPolicy,
    Policy, Tuple, TupleError, Tuples, View,
};
pub use outflank_players::contract::check_player;
pub use outflank_players::registry::{PlayerModel, RegisteredGame, factory};
pub use outflank_players::{
    AlphaBeta, Greedy, Mcts, Player, PlayerError, PlayerFactory, PlayerSpec, Random, Searchable,
};
pub use outflank_records::contract::check_format;
pub use outflank_records::{
    Decision, DecisionFilter, Format, GameInfo, Record, Selection, convert, decisions, embedded,
    read_games, stats,
};
pub use outflank_runs::{Rng, RngExt, rng::stream};
