//! Prints a page with all kinds of figures. The cross table is from a published league; the other
//! data are invented. Run it with `cargo run -p outflank-report --example sample > sample.html`.

use outflank_report::board::SquareMark;
use outflank_report::plot::{BarChart, CrossTable, Plot, Point, Series};
use outflank_report::text::{format_count, number, with_error};
use outflank_report::{Align, Board, Figure, Page, Table};

const NAMES: [&str; 7] = [
    "iPref-N-Tuple",
    "SJK-CTDL-N-Tuple",
    "Nash1-N-Tuple",
    "ETDL-N-Tuple",
    "Nash2-N-Tuple",
    "Pref-N-Tuple",
    "SJK-ETDL-N-Tuple",
];
const RATINGS: [f64; 7] = [1683.0, 1644.0, 1599.0, 1588.0, 1583.0, 1556.0, 1546.0];
const POINTS: [[f64; 7]; 7] = [
    [0.0, 1134.5, 1286.5, 1245.5, 1337.5, 1248.0, 1372.0],
    [865.5, 0.0, 1031.0, 1219.0, 1111.5, 1293.5, 1349.0],
    [713.5, 969.0, 0.0, 1044.5, 1057.5, 995.0, 1212.0],
    [754.5, 781.0, 955.5, 0.0, 940.5, 1164.0, 1184.5],
    [662.5, 888.5, 942.5, 1059.5, 0.0, 1011.5, 1107.0],
    [752.0, 706.5, 1005.0, 836.0, 988.5, 0.0, 840.0],
    [628.0, 651.0, 788.0, 815.5, 893.0, 1160.0, 0.0],
];

fn main() {
    let mut page = Page::new("A league of the strongest n-tuple players");
    page.lead(
        "Seven players, every pair 2,000 games from 1,000 openings with colors swapped. \
         Ratings have mean 1600; error bars are 95%.",
    );
    league(&mut page);
    training(&mut page);
    boards(&mut page);
    page.footer("Command", "outflank league ipref champion ann --games 2000 --openings league.txt")
        .footer("Seed", "1")
        .footer("Version", concat!("outflank ", env!("CARGO_PKG_VERSION")));
    print!("{}", page.to_html());
}

fn league(page: &mut Page) {
    let section = page.section("Ratings");
    section.key_figures([
        ("Games", format_count(42_000).as_str(), "21 pairs"),
        ("Best player", "1683 ± 7", "iPref-N-Tuple"),
        ("LOS", "100.0%", "against the second"),
        ("Duplicate games", &format_count(128), "0.3% of all"),
    ]);
    let mut table = Table::new([
        ("Player", Align::Left),
        ("Rating", Align::Right),
        ("Points", Align::Right),
        ("Score", Align::Right),
    ]);
    for ((name, rating), row) in NAMES.iter().zip(RATINGS).zip(POINTS) {
        let points: f64 = row.iter().sum();
        table.row([
            (*name).to_owned(),
            with_error(rating, Some(7.1), 0),
            number(points, 1),
            format!("{}%", number(points / 120.0, 1)),
        ]);
    }
    section.table(&table.caption("Final standings"));
    section.figure(
        &BarChart::new("Ratings with 95% intervals", "rating", NAMES)
            .series("rating", RATINGS.map(|rating| (rating, 7.1)))
            .dots()
            .decimals(0),
        "The mean rating is fixed, so the intervals are those of differences from the mean.",
    );
    let percent: Vec<Vec<f64>> =
        POINTS.iter().map(|row| row.iter().map(|points| points / 20.0).collect()).collect();
    let cross = CrossTable::new("Score of row against column, %", NAMES, percent).scale(50.0, 20.0);
    section.cross_table(&cross);
    section.details("As a drawing", |inner| {
        inner.figure(&cross, "Blue: the row player scored more than half of the points.");
    });
    section.note("The openings have 11 discs with black to move; see deviation 2 below.");
    section
        .list(true, ["Ties are broken at random.", "Black moves first, regardless of the file."]);
}

fn training(page: &mut Page) {
    let curve = |top: f64, rate: f64, wave: f64| {
        (1..=60).map(move |step| {
            let x = f64::from(step) / 30.0 * 1e6;
            let y = top * (1.0 - libm::exp(-rate * f64::from(step)))
                + wave * libm::sin(f64::from(step));
            Point::with_error(x, y, 2.0 + 8.0 / f64::from(step))
        })
    };
    let section = page.section("Training curves");
    section.figure(
        &Plot::new("Score against the standard heuristic", "training games", "score, %")
            .series(Series::line("CTDL", curve(88.0, 0.12, 0.6)).band())
            .series(Series::line("TDL", curve(80.0, 0.16, 0.8)).band())
            .series(Series::line("CEL", curve(64.0, 0.05, 0.7)).band())
            .series(
                Series::line(
                    "paper",
                    [(4e5, 70.0), (1e6, 80.0), (2e6, 85.0)].map(|(x, y)| Point::new(x, y)),
                )
                .dashed(),
            )
            .reference_line(50.0, "even")
            .y_range(0.0, 100.0)
            .description("Three methods rise quickly and level off, CTDL the highest."),
        "Mean of ten runs with 95% bands; the dashed line shows the published values.",
    );
    section.figure(
        &Plot::new("Accuracy by size of the training set", "training games", "top-1 accuracy, %")
            .series(Series::line(
                "patterns",
                [
                    (100.0, 31.0),
                    (300.0, 36.5),
                    (1000.0, 42.0),
                    (3000.0, 46.8),
                    (10_000.0, 50.7),
                    (100_000.0, 54.5),
                ]
                .map(|(x, y)| Point::with_error(x, y, 0.8)),
            ))
            .series(Series::dots(
                "one table per stage",
                [(1000.0, 40.0), (10_000.0, 51.0), (100_000.0, 55.3)]
                    .map(|(x, y)| Point::with_error(x, y, 1.1)),
            ))
            .log_x(),
        "",
    );
    section.figure(
        &BarChart::new(
            "Accuracy by stage of the game",
            "top-1 accuracy, %",
            ["1–16 discs", "17–32 discs", "33–48 discs", "49–64 discs"],
        )
        .series("iPref-N", [(78.3, 0.4), (46.1, 0.5), (41.9, 0.5), (55.2, 0.6)])
        .series("iPref-1", [(52.0, 0.5), (26.3, 0.5), (24.8, 0.5), (33.1, 0.6)]),
        "",
    );
}

fn boards(page: &mut Page) {
    let section = page.section("Boards");
    let ring = [
        [1.0, -0.25, 0.1, 0.05],
        [-0.25, -0.25, 0.01, 0.01],
        [0.1, 0.01, 0.05, 0.02],
        [0.05, 0.01, 0.02, 0.01],
    ];
    let fold = |k: usize| k.min(7 - k);
    let weights = std::array::from_fn(|square| ring[fold(square / 8)][fold(square % 8)]);
    let position = Board::new("Black to move")
        .bitboards(0x0000_1c18_1400_0000, 0x0000_0004_0800_0000 | 1 << 36)
        .mark(44, SquareMark::Ring)
        .mark(18, SquareMark::Dot)
        .mark(20, SquareMark::Dot)
        .mark(22, SquareMark::Text("+4".into()))
        .mark(45, SquareMark::Cross)
        .mark(35, SquareMark::Text("7".into()));
    let heuristic = Board::new("Standard heuristic").weights(weights);
    let tuples = Board::new("Three 5-tuples")
        .tuple([0, 1, 2, 9, 8])
        .tuple([12, 20, 28, 37, 46])
        .tuple([63, 62, 55, 54, 53])
        .tuple([32]);
    let all: [&dyn Figure; 3] = [&position, &heuristic, &tuples];
    section.gallery(all, "A position with marks, the weights of a piece counter, and tuples.");
    section.figure(&position, "The same position, larger.");
    section.code("f5d6c3d3c4f4e3f3g4");
    let mut table = Table::new([
        ("Experiment", Align::Left),
        ("Description", Align::Left),
        ("Cells", Align::Right),
    ]);
    table.row(["preference/table3", "Rank order, ratings and percentages of a league of seventeen players, one-ply search from a thousand fixed openings", "34"]);
    table.row(["gp/fig1", "Accuracy of the predicted preferences as heuristics are added", "120"]);
    section.table(&table);
}
