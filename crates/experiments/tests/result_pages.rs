//! Every decimal number in the text of a results page is in one of the CSV files of its folder.

use std::path::{Path, PathBuf};

/// Folders under `results/` whose page is checked.
const PAGES: [&str; 5] = ["ann", "cnn", "coevolution", "gp", "preference"];

#[test]
fn numbers_of_result_pages_are_in_their_csv_files() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    for page in PAGES {
        let folder = results.join(page);
        let values = csv_values(&folder);
        assert!(values.len() > 50, "{page}: only {} values in CSV files", values.len());
        let text = std::fs::read_to_string(folder.join("README.md")).unwrap();
        let numbers = decimal_numbers(&without_code_and_links(&text));
        assert!(numbers.len() > 50, "{page}: only {} numbers in the text", numbers.len());
        let missing: Vec<&String> =
            numbers.iter().filter(|number| !is_listed(number, &values)).collect();
        assert!(missing.is_empty(), "results/{page}/README.md: in no CSV file: {missing:?}");
    }
}

#[test]
fn decimal_numbers_are_found_in_text() {
    let text = "rose 1.25 to -2.50% (`0.1`), see [v1.2.3](a/4.5.md) or 3,456.7.\n```\n8.9\n```\n";
    assert_eq!(decimal_numbers(&without_code_and_links(text)), ["1.25", "2.50", "456.7"]);
    assert!(is_listed("1.3", &[-1.25]));
    assert!(!is_listed("1.3", &[1.24]));
}

/// Returns the absolute values of all numeric fields of the CSV files in a folder and its subfolders.
fn csv_values(folder: &Path) -> Vec<f64> {
    let mut values = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "csv") {
                let text = std::fs::read_to_string(path).unwrap();
                let fields = text.split([',', '\n', '\r']);
                values.extend(fields.filter_map(|field| field.parse().ok()).map(f64::abs));
            }
        }
    }
    values
}

/// Removes code blocks, code spans and the targets of links.
fn without_code_and_links(text: &str) -> String {
    let outside_blocks: String = text.split("```").step_by(2).collect();
    let outside_spans: String = outside_blocks.split('`').step_by(2).collect();
    let mut parts = outside_spans.split("](");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str("](");
        kept.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    kept
}

/// Returns the numbers with a decimal point, without signs and version numbers.
fn decimal_numbers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '.'));
    let trimmed = words.map(|word| word.trim_matches('.'));
    let is_decimal = |word: &&str| {
        word.split_once('.').is_some_and(|(whole, fraction)| {
            [whole, fraction].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    trimmed.filter(is_decimal).map(str::to_owned).collect()
}

/// Returns whether one of the values, rounded to the digits of the number, equals it.
fn is_listed(number: &str, values: &[f64]) -> bool {
    let decimals = number.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let tolerance = 0.5 * 10f64.powi(-(decimals as i32)) + 1e-9;
    let number: f64 = number.parse().unwrap();
    values.iter().any(|value| (value.abs() - number).abs() <= tolerance)
}
