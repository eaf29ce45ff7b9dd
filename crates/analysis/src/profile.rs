//! The profile of a player: losses by stage, compared with the opponents, and the kinds of mistakes.

use crate::explain::{Reason, reasons};
use crate::game_analysis::AnalyzedMove;
use crate::report::GameReport;
use crate::summary::LossSummary;
use outflank_games::Side;
use outflank_games::othello::Square;
use outflank_report::{Align, Table};
use std::collections::BTreeMap;

/// The first and the last move of each stage.
const STAGES: [(usize, usize); 3] = [(1, 20), (21, 40), (41, 60)];

/// The maximum number of mistakes listed.
const MAX_WORST: usize = 10;

/// A game with the side of the player.
#[derive(Clone, Copy, Debug)]
pub struct PlayerGame<'a> {
    /// The analyzed game.
    pub report: &'a GameReport,
    /// The player's side.
    pub side: Side,
}

/// Mistakes of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MistakeKind {
    /// The number of mistakes.
    pub count: usize,
    /// The sum of their losses in discs.
    pub loss: f64,
}

/// A mistake with its game.
#[derive(Clone, Debug)]
pub struct WorstMove<'a> {
    /// The analyzed game.
    pub report: &'a GameReport,
    /// The move.
    pub analyzed: &'a AnalyzedMove<Square>,
    /// Why it is a mistake.
    pub reasons: Vec<Reason>,
}

/// The profile of a player.
#[derive(Clone, Debug)]
pub struct Profile<'a> {
    /// The number of games.
    pub games: usize,
    /// The stages, as the first and the last move, with the player's losses.
    pub stages: Vec<((usize, usize), LossSummary)>,
    /// The player's losses.
    pub all: LossSummary,
    /// The losses of the opponents in the same games.
    pub opponents: LossSummary,
    /// The kinds of mistakes. A mistake may have several.
    pub kinds: BTreeMap<&'static str, MistakeKind>,
    /// The moves with the largest losses, largest first.
    pub worst: Vec<WorstMove<'a>>,
}

impl<'a> Profile<'a> {
    /// Computes the profile of a player from the analyzed games.
    #[must_use]
    pub fn of(games: &[PlayerGame<'a>]) -> Profile<'a> {
        let moves = |own: bool| {
            games.iter().flat_map(move |game| {
                let side = if own { game.side } else { game.side.other() };
                game.report.moves.iter().filter(move |analyzed| analyzed.side == side)
            })
        };
        let stage = |(first, last): (usize, usize)| {
            LossSummary::of(moves(true).filter(|one| (first..=last).contains(&one.ply)))
        };
        let mut kinds: BTreeMap<&'static str, MistakeKind> = BTreeMap::new();
        let mut worst = Vec::new();
        for game in games {
            for (index, analyzed) in game.report.moves.iter().enumerate() {
                if analyzed.side != game.side
                    || !analyzed.loss.is_some_and(crate::is_inaccuracy_or_worse)
                {
                    continue;
                }
                let Some((position, _)) = game.report.line.steps().nth(analyzed.ply - 1) else {
                    continue;
                };
                let reply = game.report.moves.get(index + 1);
                let reply = reply.map_or(&[][..], |next| next.pv.as_slice());
                let reasons = reasons(&position, analyzed, reply);
                for reason in &reasons {
                    let kind = kinds.entry(reason.kind()).or_default();
                    kind.count += 1;
                    kind.loss += analyzed.loss.unwrap_or(0.0);
                }
                worst.push(WorstMove { report: game.report, analyzed, reasons });
            }
        }
        worst.sort_by(|a, b| {
            b.analyzed
                .loss
                .partial_cmp(&a.analyzed.loss)
                .unwrap_or_else(|| a.analyzed.ply.cmp(&b.analyzed.ply))
        });
        worst.truncate(MAX_WORST);
        Profile {
            games: games.len(),
            stages: STAGES.into_iter().map(|bounds| (bounds, stage(bounds))).collect(),
            all: LossSummary::of(moves(true)),
            opponents: LossSummary::of(moves(false)),
            kinds,
            worst,
        }
    }

    /// Formats the profile for a terminal.
    #[must_use]
    pub fn to_text(&self, name: &str) -> String {
        let mut table = Table::new([
            ("moves", Align::Left),
            ("choices", Align::Right),
            ("loss per move", Align::Right),
            ("accuracy %", Align::Right),
            ("inaccuracies", Align::Right),
            ("mistakes", Align::Right),
            ("blunders", Align::Right),
        ]);
        let mut row = |label: String, sum: &LossSummary| {
            let number = |value: Option<f64>, digits: usize| {
                value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
            };
            table.row([
                label,
                sum.moves.to_string(),
                number(sum.mean_loss(), 2),
                number(sum.accuracy(), 0),
                sum.inaccuracies.to_string(),
                sum.mistakes.to_string(),
                sum.blunders.to_string(),
            ]);
        };
        for ((first, last), sum) in &self.stages {
            row(format!("{first}-{last}"), sum);
        }
        row("all".to_owned(), &self.all);
        row("opponents".to_owned(), &self.opponents);
        let mut text = format!("{name}: {} games\n{}", self.games, table.to_text());
        if !self.kinds.is_empty() {
            text += "\nReasons of mistakes:\n";
            let mut kinds: Vec<_> = self.kinds.iter().collect();
            kinds.sort_by(|a, b| b.1.loss.total_cmp(&a.1.loss));
            for (kind, found) in kinds {
                text += &format!("- {kind}: {} times, {:.0} discs\n", found.count, found.loss);
            }
        }
        if !self.worst.is_empty() {
            text += "\nLargest losses:\n";
        }
        for one in &self.worst {
            let WorstMove { report, analyzed, reasons } = one;
            let best = analyzed.best.first().map_or(String::new(), |best| format!(", best {best}"));
            let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            let why = if reasons.is_empty() {
                String::new()
            } else {
                format!(": {}", reasons.join("; "))
            };
            text += &format!(
                "- {} ({}), move {}, {}: {:.1} discs{best}{why}\n",
                report.title,
                report.source.as_deref().unwrap_or_default(),
                analyzed.ply,
                analyzed.played,
                analyzed.loss.unwrap_or(0.0)
            );
        }
        text
    }
}
