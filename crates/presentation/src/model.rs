//! A model for readers: what it looks at and what it has learned, drawn on boards.

use outflank_arena::model_inspection::{self, Pattern, Region, Sight};
use outflank_games::othello::{Othello, Square};
use outflank_models::patterns::{Count, Patterns};
use outflank_models::{Evaluate, Features, Model, Mlp, NTupleNetwork, Tuples};
use outflank_records::Decision;
use outflank_report::{Align, Board, Figure, Page, Plot, Point, Section, Series, Table};
use std::sync::Arc;

/// So many choices are looked at.
const SAMPLE: usize = 3000;

/// More boards than this in one gallery help nobody.
const MOST_BOARDS: usize = 48;

/// So many of the heaviest patterns of each sign are shown at once.
const STRONGEST: usize = 6;

/// A pattern that occurs less often than this, in times a board, is no habit but an accident.
const OFTEN: f64 = 0.02;

/// The stages of a model that are shown: after the opening, in the middle, toward the end.
const SHOWN_DISCS: [u32; 3] = [16, 34, 52];

/// So many nodes of a network are shown.
const SHOWN_NODES: usize = 16;

/// A board with the squares of a tuple joined, one line for each image.
#[must_use]
pub fn tuple_board(title: impl Into<String>, images: &[Vec<Square>]) -> Board {
    images.iter().fold(Board::new(title), |board, image| {
        board.tuple(image.iter().map(|square| square.index()))
    })
}

/// Boards for the first nodes of a network, or for the first sets of them: what an own disc instead
/// of the opponent's adds to a node's input.
#[must_use]
pub fn first_layer(net: &Mlp) -> Vec<Board> {
    let board = |(node, weights): (usize, [f32; 64])| {
        Board::new((node + 1).to_string()).weights(weights.map(f64::from)).decimals(2)
    };
    net.flip_effects().take(SHOWN_NODES).enumerate().map(board).collect()
}

/// Adds to a page what a model looks at, what discs are worth to it, where it moves and which
/// patterns it likes, all measured on choices that it was not learned from. The worth of discs is
/// compared with other models'.
pub fn show_model(
    page: &mut Page,
    model: &Model,
    choices: &[Decision<Othello>],
    others: &[(String, Arc<dyn Evaluate<Othello>>)],
) {
    let choices = model_inspection::sample(choices, SAMPLE);
    let sights = model_inspection::afterstates(&choices);
    squares(page.section("What it has learned"), model, &choices, &sights, others);
    let tuples = model.tuples();
    let single = tuples.is_some_and(|all| all.tuples().iter().all(|tuple| tuple.length() == 1));
    match model {
        Model::NTuple(network) if single => {
            single_squares(page.section("Its weights"), network);
        }
        Model::NTuple(network) => {
            patterns(page.section("The patterns that weigh most"), network, &sights);
        }
        Model::Patterns(staged) => counts(page.section("What it counts"), staged),
        Model::MovePredictor(_) | Model::Mlp(_) | Model::PolicyNet(_) => {}
    }
    if let Some(tuples) = tuples.filter(|_| !single) {
        looks_at(page.section("What it looks at"), tuples);
    }
}

/// What each number of moves, or of squares at the frontier, adds to the worth of a board, at a
/// few stages of the game.
fn counts(section: &mut Section, model: &Patterns) {
    let (stages, first) = (model.stages(), model.features().tuples().count());
    for (place, count) in model.features().counts().iter().enumerate() {
        let start = first + place * Count::LIMIT;
        let mut plot = Plot::new(count.about(), "how many", "worth");
        for stage in SHOWN_DISCS.iter().map(|&discs| stages.of(discs)) {
            let (from, to) = stages.discs(stage);
            let table = &model.weights(stage)[start..start + Count::LIMIT];
            // What was never seen has no weight.
            let seen = table.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
            let points = seen.map(|(many, &weight)| Point::new(many as f64, f64::from(weight)));
            plot = plot.series(Series::line(format!("{from} to {to} discs"), points));
        }
        section.figure(&plot, "");
    }
}

fn gallery(section: &mut Section, boards: &[Board], caption: &str) {
    section.gallery(boards.iter().map(|board| board as &dyn Figure), caption);
}

/// What discs are worth and where moves go.
fn squares(
    section: &mut Section,
    model: &Model,
    choices: &[Decision<Othello>],
    sights: &[Sight],
    others: &[(String, Arc<dyn Evaluate<Othello>>)],
) {
    let moves = [
        Board::new("The games").weights(model_inspection::game_move_preferences(choices)).decimals(0),
        Board::new("What was learned")
            .weights(model_inspection::model_move_preferences(&*model.policy(), choices))
            .decimals(0),
    ];
    gallery(
        section,
        &moves,
        "Where they move: how many times in a hundred a move to the square is made when it is \
         possible, less what a random choice would give. Left what the players of the held-out \
         games did, right what was learned from the others.",
    );
    let Some(value) = model.value() else { return };
    let worth = model_inspection::disc_values(&*value, sights);
    section.figure(
        &Board::new("An own disc instead of the opponent's").weights(worth.squares),
        "What turning one disc over changes in the worth of a board, on average over held-out \
         boards on which the square is taken.",
    );
    let heads = ["a disc on".to_owned(), "learned".to_owned(), "learned, % of a corner".to_owned()];
    let heads = heads.into_iter().chain(others.iter().map(|(name, _)| format!("{name}, %")));
    let sides = [Align::Left].into_iter().chain(std::iter::repeat(Align::Right));
    let mut table = Table::new(heads.zip(sides)).caption("The same by kind of square");
    let of_others: Vec<_> =
        others.iter().map(|(_, other)| model_inspection::disc_values(&**other, sights)).collect();
    for region in Region::ALL {
        let own = worth.regions[region as usize];
        let shares = std::iter::once(&worth).chain(&of_others).map(|worth| {
            let corner = worth.regions[Region::Corner as usize];
            let share = 100.0 * worth.regions[region as usize] / corner;
            if corner > 0.0 && share.is_finite() { format!("{share:.0}") } else { "-".to_owned() }
        });
        let own = if own.is_finite() { format!("{own:.3}") } else { "-".to_owned() };
        table.row([region.name().to_owned(), own].into_iter().chain(shares));
    }
    section.table(&table);
}

/// Three weights for each square.
fn single_squares(section: &mut Section, network: &NTupleNetwork) {
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
    gallery(section, &boards, "The weights of each square, by what lies there.");
}

/// A pattern on the board: own discs black, the opponent's white, the rest of the tuple empty.
fn pattern_board(network: &NTupleNetwork, pattern: &Pattern) -> Board {
    let image = &network.tuples().tuples()[pattern.tuple].placements()[0];
    let sign = if pattern.weight < 0.0 { "−" } else { "+" };
    let title = format!("{}: {sign}{:.2}", pattern.tuple + 1, pattern.weight.abs());
    image
        .iter()
        .filter(|square| (pattern.own | pattern.other) & square.bit() == 0)
        .fold(Board::new(title), |board, square| {
            board.mark(square.index(), outflank_report::board::Mark::Ring)
        })
        .bits(pattern.own, pattern.other)
}

/// The heaviest patterns of all, then those of each tuple.
fn patterns(section: &mut Section, network: &NTupleNetwork, sights: &[Sight]) {
    let extremes = model_inspection::extreme_patterns(network, sights, OFTEN);
    let mut most: Vec<&Pattern> = extremes.iter().flatten().map(|[most, _]| most).collect();
    let mut least: Vec<&Pattern> = extremes.iter().flatten().map(|[_, least]| least).collect();
    most.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    least.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    section.paragraph(
        "Each board shows one pattern: own discs black, the opponent's white, rings on squares \
         that are empty. The numbers are those of the tuple and of what the pattern adds to a \
         board's worth, counted from what its tuple adds on average; it counts wherever it occurs, \
         turned and mirrored too, and other tuples that see the same discs \
         add their own. Patterns that occur on fewer than one board in fifty are left out.",
    );
    for (patterns, caption) in
        [(most, "What it likes best."), (least, "What it wants to avoid most.")]
    {
        let boards: Vec<Board> =
            patterns.iter().take(STRONGEST).map(|p| pattern_board(network, p)).collect();
        if !boards.is_empty() {
            gallery(section, &boards, caption);
        }
    }
    section.details("The best and the worst pattern of each tuple", |inner| {
        let boards: Vec<Board> = extremes
            .iter()
            .flatten()
            .flatten()
            .take(MOST_BOARDS)
            .map(|pattern| pattern_board(network, pattern))
            .collect();
        gallery(inner, &boards, "");
    });
}

/// The tuples.
fn looks_at(section: &mut Section, all: &Tuples) {
    let tuples = all.tuples();
    let boards: Vec<Board> = tuples
        .iter()
        .take(MOST_BOARDS)
        .enumerate()
        .map(|(number, tuple)| tuple_board((number + 1).to_string(), &tuple.placements()[..1]))
        .collect();
    let shown = if tuples.len() > boards.len() {
        format!("The first {} of {} tuples", boards.len(), tuples.len())
    } else {
        format!("The {} tuples", tuples.len())
    };
    let images = all.placement_count();
    gallery(
        section,
        &boards,
        &format!(
            "{shown}, each in its first image; with all images a board is read in {images} places. \
             The larger dot is the first square."
        ),
    );
}
