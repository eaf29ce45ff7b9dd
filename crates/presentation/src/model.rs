//! A model drawn on boards: its tuples, disc values, move preferences and patterns.

use outflank_arena::model_inspection::{self, Afterstate, Region, TupleEntry};
use outflank_games::othello::{Othello, Square};
use outflank_models::patterns::{Count, Patterns};
use outflank_models::{Evaluate, Features, Mlp, Model, NTupleNetwork, Tuples};
use outflank_records::Decision;
use outflank_report::{Align, Board, Figure, Page, Plot, Point, Section, Series, Table};
use std::sync::Arc;

/// Maximum number of choices on which a model is measured.
const MAX_SAMPLE: usize = 3000;

/// Maximum number of boards in one gallery.
const MAX_BOARDS: usize = 48;

/// Number of patterns with the largest, and with the smallest, weights that are shown.
const MAX_PATTERNS: usize = 6;

/// Minimum frequency of a pattern per position; rarer patterns are noise.
const MIN_FREQUENCY: f64 = 0.02;

/// The stages that are shown, by discs: after the opening, in the middle game, toward the end.
const SHOWN_DISCS: [u32; 3] = [16, 34, 52];

/// Maximum number of hidden units that are shown.
const MAX_HIDDEN_UNITS: usize = 16;

/// Draws the squares of a tuple joined by a line, one line per symmetric placement.
#[must_use]
pub fn tuple_board(title: impl Into<String>, placements: &[Vec<Square>]) -> Board {
    placements.iter().fold(Board::new(title), |board, squares| {
        board.tuple(squares.iter().map(|square| square.index()))
    })
}

/// Draws the input weights of the first hidden units, or groups of units, of an MLP. A weight is
/// the change of a unit's input when an own disc replaces an opponent's.
#[must_use]
pub fn first_layer(net: &Mlp) -> Vec<Board> {
    let board = |(node, weights): (usize, [f32; 64])| {
        Board::new((node + 1).to_string()).weights(weights.map(f64::from)).decimals(2)
    };
    net.flip_effects().take(MAX_HIDDEN_UNITS).enumerate().map(board).collect()
}

/// Adds sections about a model: its tuples, disc values, move preferences and strongest patterns,
/// measured on choices outside its training set. Disc values are compared with reference models.
pub fn add_model_sections(
    page: &mut Page,
    model: &Model,
    choices: &[Decision<Othello>],
    references: &[(String, Arc<dyn Evaluate<Othello>>)],
) {
    let choices = model_inspection::sample(choices, MAX_SAMPLE);
    let afterstates = model_inspection::afterstates(&choices);
    square_section(page.section("Squares"), model, &choices, &afterstates, references);
    let tuples = model.tuples();
    let is_single_squares =
        tuples.is_some_and(|all| all.tuples().iter().all(|tuple| tuple.length() == 1));
    match model {
        Model::NTuple(network) if is_single_squares => {
            single_square_section(page.section("Weights"), network);
        }
        Model::NTuple(network) => {
            pattern_section(page.section("Strongest patterns"), network, &afterstates);
        }
        Model::Patterns(staged) => {
            count_section(page.section("Mobility and frontier weights"), staged)
        }
        Model::MovePredictor(_) | Model::Mlp(_) | Model::PolicyNet(_) => {}
    }
    if let Some(tuples) = tuples.filter(|_| !is_single_squares) {
        tuple_section(page.section("Tuples"), tuples);
    }
}

/// Plots the weight of each mobility or frontier count at a few stages of the game.
fn count_section(section: &mut Section, model: &Patterns) {
    let (stages, first) = (model.stages(), model.features().tuples().feature_count());
    for (index, count) in model.features().counts().iter().enumerate() {
        let start = first + index * Count::TABLE_SIZE;
        let mut plot = Plot::new(count.description(), "count", "weight");
        for stage in SHOWN_DISCS.iter().map(|&discs| stages.stage_of(discs)) {
            let (from, to) = stages.discs(stage);
            let table = &model.weights(stage)[start..start + Count::TABLE_SIZE];
            // Counts that never occurred have weight 0.
            let nonzero = table.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
            let points = nonzero.map(|(x, &weight)| Point::new(x as f64, f64::from(weight)));
            plot = plot.series(Series::line(format!("{from} to {to} discs"), points));
        }
        section.figure(&plot, "");
    }
}

fn gallery(section: &mut Section, boards: &[Board], caption: &str) {
    section.gallery(boards.iter().map(|board| board as &dyn Figure), caption);
}

/// Adds move preferences and disc values.
fn square_section(
    section: &mut Section,
    model: &Model,
    choices: &[Decision<Othello>],
    afterstates: &[Afterstate],
    references: &[(String, Arc<dyn Evaluate<Othello>>)],
) {
    let moves = [
        Board::new("Players of the games")
            .weights(model_inspection::game_move_preferences(choices))
            .decimals(0),
        Board::new("Trained model")
            .weights(model_inspection::model_move_preferences(&*model.policy(), choices))
            .decimals(0),
    ];
    gallery(
        section,
        &moves,
        "Move preferences: how often a square is played when it is legal, in percent, minus the \
         percentage of a random choice. Left: the players of the test games. Right: the trained \
         model.",
    );
    let Some(value) = model.value() else { return };
    let disc_values = model_inspection::disc_values(&*value, afterstates);
    // Values that only rank the moves of a position need not grow with the discs of a player.
    if disc_values.regions[Region::Corner as usize].is_nan()
        || disc_values.regions[Region::Corner as usize] <= 0.0
    {
        section.paragraph(
            "The model has no disc values: it was trained to rank the moves of a position, and a \
             corner of its own does not raise its value on average.",
        );
        return;
    }
    section.figure(
        &Board::new("Disc values").weights(disc_values.squares),
        "Change of the value when an own disc replaces the opponent's, averaged over test \
         positions in which the square is occupied.",
    );
    let heads = ["a disc on".to_owned(), "value".to_owned(), "% of a corner".to_owned()];
    let heads = heads.into_iter().chain(references.iter().map(|(name, _)| format!("{name}, %")));
    let alignment = [Align::Left].into_iter().chain(std::iter::repeat(Align::Right));
    let mut table = Table::new(heads.zip(alignment)).caption("Disc values by region");
    let reference_values: Vec<_> = references
        .iter()
        .map(|(_, reference)| model_inspection::disc_values(&**reference, afterstates))
        .collect();
    for region in Region::ALL {
        let value = disc_values.regions[region as usize];
        let corner_percents =
            std::iter::once(&disc_values).chain(&reference_values).map(|disc_values| {
                let corner = disc_values.regions[Region::Corner as usize];
                let percent = 100.0 * disc_values.regions[region as usize] / corner;
                if corner > 0.0 && percent.is_finite() {
                    format!("{percent:.0}")
                } else {
                    "-".to_owned()
                }
            });
        let value = if value.is_finite() { format!("{value:.3}") } else { "-".to_owned() };
        table.row([region.name().to_owned(), value].into_iter().chain(corner_percents));
    }
    section.table(&table);
}

/// Draws the three weights of each square.
fn single_square_section(section: &mut Section, network: &NTupleNetwork) {
    let mut boards = [[f64::NAN; 64]; 3];
    for (tuple, offset) in network.tuples().tuples().iter().zip(network.tuples().offsets()) {
        for square in tuple.placements().iter().flatten() {
            for (entry, board) in boards.iter_mut().enumerate() {
                board[square.index()] = f64::from(network.weights()[offset + entry]);
            }
        }
    }
    let [other, empty, own] = boards;
    let boards = [("Own disc", own), ("Empty", empty), ("Opponent's disc", other)]
        .map(|(title, weights)| Board::new(title).weights(weights));
    gallery(section, &boards, "The weights of each square, by its content.");
}

/// Draws a pattern: own discs black, the opponent's white, empty squares of the tuple marked.
fn pattern_board(network: &NTupleNetwork, pattern: &TupleEntry) -> Board {
    let squares = &network.tuples().tuples()[pattern.tuple].placements()[0];
    let sign = if pattern.weight < 0.0 { "−" } else { "+" };
    let title = format!("{}: {sign}{:.2}", pattern.tuple + 1, pattern.weight.abs());
    squares
        .iter()
        .filter(|square| (pattern.own | pattern.other) & square.bit() == 0)
        .fold(Board::new(title), |board, square| {
            board.mark(square.index(), outflank_report::board::SquareMark::Ring)
        })
        .bitboards(pattern.own, pattern.other)
}

/// Adds the strongest patterns overall, then those of each tuple.
fn pattern_section(section: &mut Section, network: &NTupleNetwork, afterstates: &[Afterstate]) {
    let extremes = model_inspection::extreme_entries(network, afterstates, MIN_FREQUENCY);
    let mut largest: Vec<&TupleEntry> = extremes.iter().flatten().map(|[max, _]| max).collect();
    let mut smallest: Vec<&TupleEntry> = extremes.iter().flatten().map(|[_, min]| min).collect();
    largest.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    smallest.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    section.paragraph(
        "Each board shows one pattern: own discs black, the opponent's white, rings on empty \
         squares. The title states the tuple and the weight of the pattern relative to the mean \
         weight of its tuple. A pattern counts in all eight symmetries, and other tuples that \
         cover the same discs add their own weights. Patterns that occur in fewer than 2% of \
         positions are left out.",
    );
    for (patterns, caption) in [(largest, "Largest weights."), (smallest, "Smallest weights.")] {
        let boards: Vec<Board> =
            patterns.iter().take(MAX_PATTERNS).map(|p| pattern_board(network, p)).collect();
        if !boards.is_empty() {
            gallery(section, &boards, caption);
        }
    }
    section.details("The largest and smallest weight of each tuple", |inner| {
        let boards: Vec<Board> = extremes
            .iter()
            .flatten()
            .flatten()
            .take(MAX_BOARDS)
            .map(|pattern| pattern_board(network, pattern))
            .collect();
        gallery(inner, &boards, "");
    });
}

/// Draws the tuples.
fn tuple_section(section: &mut Section, all: &Tuples) {
    let tuples = all.tuples();
    let boards: Vec<Board> = tuples
        .iter()
        .take(MAX_BOARDS)
        .enumerate()
        .map(|(number, tuple)| tuple_board((number + 1).to_string(), &tuple.placements()[..1]))
        .collect();
    let shown = if tuples.len() > boards.len() {
        format!("The first {} of {} tuples", boards.len(), tuples.len())
    } else {
        format!("The {} tuples", tuples.len())
    };
    let placements = all.placement_count();
    gallery(
        section,
        &boards,
        &format!(
            "{shown}, each in its first placement; with all symmetries there are {placements} \
             placements. The larger dot is the first square."
        ),
    );
}
