#![doc = include_str!("../README.md")]
#![cfg(feature = "extension")]

mod analysis;
mod batch;
mod contest;
mod errors;
mod executor;
mod experiments;
mod fit;
mod game;
mod games;
mod model;
mod player;
mod position;
mod python_policy;
mod records;
mod work;

use pyo3::prelude::*;

/// The compiled part of the package `outflank`. Import `outflank` instead of this module.
#[pymodule]
mod _outflank {
    #[pymodule_export]
    use crate::analysis::{Analysis, Solution, analyze, solve};
    #[pymodule_export]
    use crate::batch::{
        canonical, disc_differences, legal_moves, normalize, planes, play, select_moves, transform,
    };
    #[pymodule_export]
    use crate::contest::{League, MatchResult, play_league, play_match};
    #[pymodule_export]
    use crate::errors::OutflankError;
    #[pymodule_export]
    use crate::executor::execute_task;
    #[pymodule_export]
    use crate::experiments::{ExperimentReport, experiments, reproduce};
    #[pymodule_export]
    use crate::fit::{accuracy, fit};
    #[pymodule_export]
    use crate::game::Game;
    #[pymodule_export]
    use crate::model::{Model, load_model};
    #[pymodule_export]
    use crate::player::{Player, players};
    #[pymodule_export]
    use crate::position::Position;
    #[pymodule_export]
    use crate::records::{
        Decisions, Games, Record, embedded_games, make_decisions, parse_games, read_games,
        split_indices,
    };

    use pyo3::prelude::*;

    /// Runs the command line with these arguments, the name of the program first, and returns its
    /// exit status. The package runs it in a process of its own: python -m outflank.
    #[pyfunction]
    fn run_program(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        let code = py.detach(|| outflank::run_program(arguments));
        let equals = |status: &u8| std::process::ExitCode::from(*status) == code;
        (0..=u8::MAX).find(equals).unwrap_or(1)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
