//! Comparisons by a person: shows what two heuristics would play and asks which is better.
//!
//! Questions go to standard error, since standard output may be a JSON document. Each answer is
//! written to a journal at once.

use anyhow::{Result, bail};
use outflank_learners::gp::{
    ComparisonOutcome, DEMONSTRATED_SIDE, Disagreement, GameOracleConfig, GpError,
    PreferenceOracle, demonstration_games, find_disagreement,
};
use outflank_models::NamedFeatures;
use outflank_protocols::TerminalGame;
use outflank_runs::{Journal, RunFolder};
use std::fmt::Write;
use std::io::BufRead;
use std::marker::PhantomData;

/// What a question shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    /// The two positions after the moves of the heuristics.
    Positions,
    /// One game of each heuristic.
    Games,
}

/// A person who answers comparisons on standard input.
pub struct HumanOracle<P> {
    kind: QuestionKind,
    config: GameOracleConfig,
    journal: Journal,
    /// Earlier answers: the round, the number of the question, the answer.
    answered: Vec<(u64, usize, ComparisonOutcome)>,
    game: PhantomData<fn() -> P>,
}

impl<P: TerminalGame + NamedFeatures> HumanOracle<P> {
    /// Reads the earlier answers in a run folder.
    pub fn new(
        kind: QuestionKind,
        config: GameOracleConfig,
        folder: &RunFolder,
    ) -> Result<HumanOracle<P>> {
        let path = folder.join("answers.tsv");
        let (journal, lines) = Journal::open(&path)?;
        let answered: Option<Vec<_>> = lines.iter().map(|line| parse(line)).collect();
        let Some(answered) = answered else {
            bail!("{} is not a journal of answers; restore it, or start a new run", path.display())
        };
        Ok(HumanOracle { kind, config, journal, answered, game: PhantomData })
    }

    /// The question as text, and the boards to show on demand; `None` if both play the same moves.
    fn question(&self, pair: (&[f64], &[f64]), path: &[&str]) -> Option<(String, [String; 2])> {
        match self.kind {
            QuestionKind::Positions => {
                let disagreement = find_disagreement::<P>(pair, self.config, path)?;
                Some((positions(&disagreement), [String::new(), String::new()]))
            }
            QuestionKind::Games => {
                let games = demonstration_games::<P>(pair, self.config, path);
                if games[0].line.moves() == games[1].line.moves() {
                    return None;
                }
                let mut text =
                    String::from("Two players, both Black, against the same opponent.\n");
                let mut boards = [String::new(), String::new()];
                for (at, game) in games.iter().enumerate() {
                    let moves: Vec<String> =
                        game.line.moves().iter().map(ToString::to_string).collect();
                    let result = match DEMONSTRATED_SIDE.sign() * game.result {
                        0 => "a draw".to_owned(),
                        won if won > 0 => format!("won by {won}"),
                        lost => format!("lost by {}", -lost),
                    };
                    let _ = writeln!(text, "\n{}: {result}\n{}", at + 1, moves.join(" "));
                    text.push_str(&game.line.position().diagram());
                    for (position, mv) in game.line.steps() {
                        let after = position.play(mv);
                        let _ = writeln!(
                            boards[at],
                            "{}: {mv}\n{}",
                            position.to_move(),
                            after.diagram()
                        );
                    }
                }
                text.push_str("\nWhich player do you prefer? ");
                Some((text, boards))
            }
        }
    }

    /// Asks until there is a valid answer; `None` if the person stops or the input ends.
    fn ask(&self, text: &str, boards: &[String; 2]) -> Result<Option<ComparisonOutcome>, GpError> {
        eprint!("{text}");
        let hint = match self.kind {
            QuestionKind::Positions => "1, 2, = (equal), q (stop)",
            QuestionKind::Games => {
                "1, 2, = (equal), a or b (all boards of the first or second), q (stop)"
            }
        };
        eprintln!("[{hint}]");
        loop {
            eprint!("> ");
            let mut line = Vec::new();
            let read = std::io::stdin().lock().read_until(b'\n', &mut line);
            match read {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) => {
                    return Err(GpError::Oracle(format!("cannot read the answer: {error}")));
                }
            }
            match String::from_utf8_lossy(&line).trim() {
                "1" => return Ok(Some(ComparisonOutcome::First)),
                "2" => return Ok(Some(ComparisonOutcome::Second)),
                "=" => return Ok(Some(ComparisonOutcome::Tie)),
                "q" | "quit" => return Ok(None),
                "a" if self.kind == QuestionKind::Games => eprintln!("{}", boards[0]),
                "b" if self.kind == QuestionKind::Games => eprintln!("{}", boards[1]),
                other => eprintln!("'{other}' is not an answer: {hint}"),
            }
        }
    }
}

impl<P: TerminalGame + NamedFeatures> PreferenceOracle for HumanOracle<P> {
    fn compare(
        &mut self,
        round: u64,
        points: &[Vec<f64>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<ComparisonOutcome>, GpError> {
        let mut outcomes = Vec::with_capacity(pairs.len());
        for (number, &(first, second)) in pairs.iter().enumerate() {
            let earlier =
                self.answered.iter().find(|earlier| (earlier.0, earlier.1) == (round, number));
            if let Some(&(_, _, outcome)) = earlier {
                outcomes.push(outcome);
                continue;
            }
            let path = [round.to_string(), number.to_string()];
            let path = [path[0].as_str(), path[1].as_str()];
            let question = self.question((&points[first], &points[second]), &path);
            let outcome = match question {
                // Players with the same moves are equally good.
                None => ComparisonOutcome::Tie,
                Some((text, boards)) => {
                    eprintln!("\nRound {round}, question {} of {}.", number + 1, pairs.len());
                    self.ask(&text, &boards)?.ok_or(GpError::Stopped)?
                }
            };
            let mark = match outcome {
                ComparisonOutcome::First => '1',
                ComparisonOutcome::Second => '2',
                ComparisonOutcome::Tie => '=',
            };
            let line = format!("{round}\t{number}\t{mark}");
            let saved = self.journal.append(&[line]).and_then(|()| self.journal.sync());
            saved.map_err(|error| GpError::Oracle(error.to_string()))?;
            self.answered.push((round, number, outcome));
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    fn games_per_comparison(&self) -> u64 {
        0
    }
}

/// Parses an answer from its line.
fn parse(line: &str) -> Option<(u64, usize, ComparisonOutcome)> {
    let mut words = line.split('\t');
    let (round, number) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let outcome = match words.next()? {
        "1" => ComparisonOutcome::First,
        "2" => ComparisonOutcome::Second,
        "=" => ComparisonOutcome::Tie,
        _ => return None,
    };
    Some((round, number, outcome))
}

fn positions<P: TerminalGame>(disagreement: &Disagreement<P>) -> String {
    let Disagreement { position, first, second } = disagreement;
    let side = position.to_move();
    let mark = match P::SYMBOLS[side.index()] {
        "" => String::new(),
        symbol => format!(" ({symbol})"),
    };
    let mut text = format!("{side}{mark} is to move:\n{}", position.diagram());
    let titles = [format!("1: {}", first.0), format!("2: {}", second.0)];
    let boards = [first.1.diagram(), second.1.diagram()];
    let width = boards[0].lines().map(str::len).max().unwrap_or(0) + 6;
    let _ = writeln!(text, "\n{:width$}{}", titles[0], titles[1]);
    for (left, right) in boards[0].lines().zip(boards[1].lines()) {
        let _ = writeln!(text, "{left:width$}{right}");
    }
    let _ = write!(text, "\nWhich position do you prefer as {side}? ");
    text
}
