//! The program `outflank`.

use std::process::ExitCode;

fn main() -> ExitCode {
    outflank::run_program(std::env::args_os().collect())
}
