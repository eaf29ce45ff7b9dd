//! Published players of the Othello League that use board inversion, identified by checksum.
//!
//! A `.player` file does not store the view, and a player is very weak with the wrong one.

use crate::View;
use outflank_runs::files::checksum;

/// First 16 hexadecimal digits of the SHA-256 of each file, and its name.
const INVERTED_PLAYERS: [(&str, &str); 8] = [
    ("2ef2edf272fd00f0", "RunnarsonLucas2014IPref1"),
    ("d23846534d811719", "RunnarsonLucas2014IPrefN"),
    ("26534896c41f0d18", "Manning2010GECCO"),
    ("164c7a40f928c906", "JaskowskiSzubert2015CoCMAES-2"),
    ("b59c7b14b7fbb97f", "JaskowskiSzubert2015CoCMAES-3"),
    ("ca01d6d09d3ae719", "JaskowskiSzubert2015CoCMAES-4"),
    ("8a220f302d28612c", "JaskowskiSzubert2015CoCMAES-4+2x2"),
    ("574d2b04694d03c1", "Jaskowski2014All2"),
];

/// Returns the view of a published file if it is not the default one.
pub(super) fn known_view(bytes: &[u8]) -> Option<View> {
    let sum = checksum(bytes);
    INVERTED_PLAYERS.iter().any(|(prefix, _)| sum.starts_with(prefix)).then_some(View::Invert)
}
