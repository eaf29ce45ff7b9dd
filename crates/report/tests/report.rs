//! Output is well-formed, contains its input, and escapes hostile names.

use outflank_report::board::SquareMark;
use outflank_report::plot::{BarChart, CrossTable, Plot, Point, Series};
use outflank_report::{Align, Board, Figure, Page, Svg, Table, Theme};

const HOSTILE: [&str; 10] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='x",
    "</svg></table></title><b>",
    "a&b;&lt;",
    "]]><!-- -->",
    "comma, \"quote\"\r\nline | pipe `code` *star* _low_ [x](y)",
    "\u{0}\u{7}\u{1b}[31mred\u{202e}txt\u{ffff}",
    "=cmd|' /C calc'!A0",
    "李世石 🏆 e\u{301} Þ",
];

/// Extreme and non-finite numbers.
const EXTREME: [f64; 9] =
    [0.0, -0.0, 1.0, -3.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, 5e-324];

/// Checks that text is one well-formed XML element after an optional declaration: tags nest,
/// attributes are quoted and unique, characters and entities are valid.
fn check_xml(text: &str) {
    let mut rest =
        text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap_or(text);
    let mut open: Vec<&str> = Vec::new();
    let mut roots = 0;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        assert!(!open.is_empty() || rest[..start].trim().is_empty(), "text outside the root");
        let end = rest.find('>').unwrap_or_else(|| panic!("unclosed tag: {rest:.60}"));
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.trim_end()), "tags do not nest");
            continue;
        }
        let (inner, closed) = tag.strip_suffix('/').map_or((tag, false), |inner| (inner, true));
        let (name, attributes) = inner.split_once([' ', '\n']).unwrap_or((inner, ""));
        assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "{name:?}");
        check_attributes(attributes);
        roots += usize::from(open.is_empty());
        if !closed {
            open.push(name);
        }
    }
    assert!(rest.trim().is_empty() && open.is_empty() && roots == 1, "{open:?}, {roots} roots");
}

fn check_attributes(mut rest: &str) {
    let mut seen = Vec::new();
    while !rest.trim().is_empty() {
        let (name, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("{rest:?}"));
        let name = name.trim();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{name:?}");
        assert!(!seen.contains(&name), "duplicate {name}");
        seen.push(name);
        let (value, after) = after.split_once('"').expect("an unclosed quotation mark");
        check_text(value);
        assert!(!value.contains('<'));
        rest = after;
    }
}

fn check_text(text: &str) {
    for c in text.chars() {
        assert!(
            matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
        );
    }
    for part in text.split('&').skip(1) {
        let entity = part.split_once(';').expect("an unterminated entity").0;
        assert!(["amp", "lt", "gt", "quot", "#39"].contains(&entity), "&{entity};");
    }
}

/// Checks that a drawing contains no NaN, infinity or negative zero.
fn check_numbers(text: &str) {
    for token in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
        let lower = token.to_ascii_lowercase();
        assert!(!["nan", "inf", "-inf", "infinity", "-0"].contains(&lower.as_str()), "{token}");
    }
}

fn check_figure(figure: &dyn Figure) -> Svg {
    for width in [0.0, 350.0, 760.0, 1e9, f64::NAN] {
        let svg = figure.draw(width);
        for text in [svg.inline(), svg.file(Theme::Light), svg.file(Theme::Dark)] {
            check_xml(&text);
            check_numbers(&text);
            assert!(text.contains("role=\"img\"") && text.contains("<title>"));
            assert!(!text.contains("<script") && !text.contains("href"));
        }
        assert!(!svg.file(Theme::Dark).contains("=\"var("));
    }
    figure.draw(500.0)
}

#[test]
fn the_xml_checker_detects_errors() {
    check_xml("<a b=\"c\"><d/>&amp;</a>");
    for bad in ["<a>", "<a></b>", "<a b=c/>", "<a>&nope;</a>", "<a/><b/>", "<a b=\"1\" b=\"2\"/>"] {
        assert!(std::panic::catch_unwind(|| check_xml(bad)).is_err(), "{bad}");
    }
}

#[test]
fn plots_of_extreme_data_are_well_formed() {
    let extreme = || EXTREME.iter().flat_map(|&x| EXTREME.map(|y| Point::with_error(x, y, x)));
    for name in HOSTILE {
        let plot = Plot::new(name, name, name)
            .description(name)
            .reference_line(f64::NAN, name)
            .reference_line(3.0, name)
            .series(Series::line(name, extreme()))
            .series(Series::dots(name, extreme()).band())
            .series(Series::line(name, (0..100).map(|k| Point::new(f64::from(k), 1.0))).dashed());
        check_figure(&plot);
        check_figure(&plot.clone().log_x());
        check_figure(&plot.clone().y_range(f64::NAN, 1.0).x_range(5.0, 5.0));
        let values = || EXTREME.iter().map(|&x| (x, x));
        let bars = BarChart::new(name, name, HOSTILE).series(name, values()).series(name, values());
        check_figure(&bars);
        check_figure(&bars.clone().dots().range(1.0, 0.0));
        let ragged = vec![EXTREME.to_vec(), vec![], vec![50.0]];
        let cross = CrossTable::new(name, HOSTILE, ragged).scale(0.0, 0.0).decimals(2);
        check_figure(&cross);
        check_xml(&cross.to_html());
    }
    check_figure(&Plot::new("", "", ""));
    check_figure(&BarChart::new("", "", [""; 0]));
    check_figure(&CrossTable::new("", [""; 0], vec![]));
}

#[test]
fn lines_without_markers() {
    let line = || Series::line("", [Point::new(0.0, 1.0), Point::new(1.0, 2.0)]);
    let drawn = |series: Series| {
        let svg = Plot::new("", "", "").series(series).draw(500.0).inline();
        (svg.matches("<circle").count(), svg.matches("<path").count())
    };
    assert_eq!(drawn(line()), (2, 1));
    assert_eq!(drawn(line().without_markers()), (0, 1));
}

#[test]
fn labels_of_close_reference_lines_do_not_overlap() {
    let plot = Plot::new("", "", "")
        .y_range(0.0, 100.0)
        .series(Series::line("", (0..9).map(|k| Point::new(f64::from(k), 50.0))))
        .reference_line(81.8, "first")
        .reference_line(82.0, "second")
        .reference_line(82.2, "third")
        .reference_line(20.0, "fourth");
    let svg = plot.draw(760.0).inline();
    let position = |label: &str| -> (f64, f64) {
        let text = svg.split("<text x=\"").find(|text| text.contains(&format!(">{label}<")));
        let numbers = text.expect("the label is drawn").split('"').filter_map(|n| n.parse().ok());
        let numbers: Vec<f64> = numbers.take(2).collect();
        (numbers[0], numbers[1])
    };
    let [first, second, third, fourth] = ["first", "second", "third", "fourth"].map(position);
    assert_eq!((first.0, first.0), (second.0, fourth.0));
    assert!(second.1 > first.1 + 12.0, "below its line");
    assert!(third.0 < first.0 - 20.0, "left of the first");
}

#[test]
fn plots_draw_all_points_and_error_bars() {
    let points = |n: i32| (0..n).map(|k| Point::with_error(f64::from(k), f64::from(k * k), 1.0));
    let svg =
        Plot::new("Squares", "k", "k²").series(Series::line("few", points(5))).draw(760.0).inline();
    // Five markers, each with an error bar of three strokes and a tooltip.
    assert_eq!(svg.matches("<circle").count(), 5);
    assert_eq!(svg.matches("stroke-opacity").count(), 15);
    assert!(svg.contains("<title>few: 4, 16.000 ± 1.000</title>"), "{svg}");
    let many = Plot::new("", "", "").series(Series::line("many", points(100)).band()).draw(760.0);
    assert_eq!(many.inline().matches("<circle").count(), 0);
    assert_eq!(many.inline().matches("<path").count(), 2);
    // A missing value leaves a gap: two lines instead of one.
    let gap = [1.0, 2.0, f64::NAN, 4.0, 5.0].map(|y| Point::new(y, y));
    let gap: Vec<Point> =
        gap.into_iter().enumerate().map(|(k, p)| Point { x: k as f64, ..p }).collect();
    let svg = Plot::new("", "", "").series(Series::line("gap", gap)).draw(760.0).inline();
    assert_eq!(svg.matches("<path").count(), 2);
}

#[test]
fn boards_with_extreme_data_are_well_formed() {
    for name in HOSTILE {
        let mut weights = [0.0; 64];
        weights[..EXTREME.len()].copy_from_slice(&EXTREME);
        let board = Board::new(name)
            .description(name)
            .bitboards(u64::MAX << 50, 0xff00)
            .mark(3, SquareMark::Text(name.into()))
            .mark(60, SquareMark::Ring)
            .mark(61, SquareMark::Dot)
            .mark(0, SquareMark::Cross)
            .tuple([0, 1, 64, 9])
            .tuple([]);
        check_figure(&board);
        check_figure(&board.weights(weights));
    }
    let start =
        check_figure(&Board::new("").bitboards(1 << 28 | 1 << 35, 1 << 27 | 1 << 36)).inline();
    assert_eq!(start.matches("fill=\"var(--black)\"").count(), 2);
    assert_eq!(start.matches("fill=\"var(--white)\"").count(), 2);
}

fn hostile_table() -> Table {
    let mut table = Table::new(HOSTILE.map(|name| (name, Align::Left))).caption(HOSTILE[1]);
    for shift in 0..HOSTILE.len() {
        table.row((0..shift + 2).map(|k| HOSTILE[(k + shift) % HOSTILE.len()]));
    }
    table.row([""; 0]);
    table
}

/// A strict RFC 4180 parser.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        let row = rows.last_mut().unwrap();
        let cell = row.last_mut().unwrap();
        match (quoted, c) {
            (true, '"') if chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            (_, '"') => quoted = !quoted,
            (false, ',') => row.push(String::new()),
            (false, '\n') => rows.push(vec![String::new()]),
            (_, c) => cell.push(c),
        }
    }
    assert!(!quoted);
    assert_eq!(rows.pop(), Some(vec![String::new()]), "the last line is terminated");
    rows
}

#[test]
fn csv_round_trips() {
    let table = hostile_table();
    let parsed = parse_csv(&table.to_csv());
    assert_eq!(parsed[0][..10], HOSTILE);
    assert_eq!(parsed.len(), 1 + table.rows().len());
    for (parsed, row) in parsed[1..].iter().zip(table.rows()) {
        assert_eq!(parsed.len(), 11);
        assert_eq!(&parsed[..row.len()], row);
        assert!(parsed[row.len()..].iter().all(String::is_empty));
    }
    let mut one_column = Table::new(["only"]);
    one_column.row([""]).row(["x"]);
    assert_eq!(one_column.to_csv(), "only\n\"\"\nx\n");
}

#[test]
fn text_tables_are_aligned_and_sanitized() {
    let mut table = Table::new([("Player", Align::Left), ("Rating", Align::Right)]);
    table.row(["李世石", "1850"]).row(["ipref", "980"]);
    assert_eq!(table.to_text(), "Player  Rating\n──────  ──────\n李世石    1850\nipref      980\n");
    let text = hostile_table().to_text();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn markdown_tables_escape_hostile_cells() {
    let mut table = Table::new(["a_b", "_c_"]);
    table.row(["x|y", "<b>*1*"]);
    assert_eq!(
        table.to_markdown(),
        "| a_b | \\_c\\_ |\n|:---|---:|\n| x\\|y | &lt;b&gt;\\*1\\* |\n"
    );
    for line in hostile_table().to_markdown().lines() {
        let bars = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert_eq!(bars, 12, "{line}");
    }
}

#[test]
fn html_tables_are_well_formed() {
    for table in [hostile_table(), Table::new([""; 0]), Table::new(["a"])] {
        check_xml(&table.to_html());
    }
}

#[test]
fn pages_are_self_contained_and_escaped() {
    for name in HOSTILE {
        let mut page = Page::new(name);
        page.lead(name).footer(name, name);
        for _ in 0..3 {
            let board = Board::new(name);
            let figures: [&dyn Figure; 2] = [&board, &Plot::new(name, name, name)];
            page.section(name)
                .paragraph(name)
                .note(name)
                .list(true, HOSTILE)
                .key_figures([(name, name, name)])
                .code(name)
                .table(&hostile_table())
                .cross_table(&CrossTable::new(name, HOSTILE, vec![]))
                .figure(&BarChart::new(name, name, HOSTILE), name)
                .gallery(figures, name)
                .details(name, |inner| {
                    inner.paragraph(name).figure(&Board::new(name), "");
                });
        }
        let html = page.to_html();
        let (head, body) = html.split_once("</head>\n").expect("a head");
        // The body is also well-formed XML, so nothing escaped from its element.
        check_xml(body.strip_suffix("</html>\n").expect("an end"));
        assert!(head.contains("default-src 'none'"));
        for outside in ["src=\"", "url(", "@import", "<link", "<script", "<iframe"] {
            assert!(!html.contains(outside), "{outside}");
        }
        assert!(!body.contains("href=\"h") && body.contains("href=\"#s3\""));
    }
}

#[test]
fn wide_tables_are_split_between_columns() {
    let mut table = Table::new(["Player", "one", "two", "three"]);
    table.row(["ipref", "1", "22", "333"]).row(["a long name", "4", "55", "666"]);
    let whole = table.to_text();
    // The widest line has 11 + 2 + 3 + 2 + 3 + 2 + 5 = 28 columns.
    for width in [None, Some(28), Some(200)] {
        assert_eq!(table.to_text_within(width), whole, "{width:?}");
    }
    let two = "Player       one  two\n───────────  ───  ───\nipref          1   22\n\
               a long name    4   55\n\n\
               Player       three\n───────────  ─────\nipref          333\n\
               a long name    666\n";
    assert_eq!(table.to_text_within(Some(27)), two);
    assert_eq!(table.to_text_within(Some(21)), two);
    // If nothing fits, each block has one column.
    let narrow = table.to_text_within(Some(3));
    assert_eq!(narrow.lines().filter(|line| line.starts_with("ipref")).count(), 3);
    for cell in ["1", "22", "333", "4", "55", "666"] {
        assert_eq!(narrow.split_whitespace().filter(|word| *word == cell).count(), 1, "{cell}");
    }
    // A rank column is repeated together with the name.
    let mut ranks =
        Table::new([("", Align::Right), ("player", Align::Left), ("points", Align::Right)]);
    ranks.row(["1", "ipref", "10"]);
    assert_eq!(ranks.to_text_within(Some(10)), ranks.to_text());
    assert_eq!(
        Table::new(Vec::<&str>::new()).to_text_within(Some(1)),
        Table::new(Vec::<&str>::new()).to_text()
    );
}
