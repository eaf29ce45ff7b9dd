//! The published players of the Othello League, known by their content.
//!
//! A `.player` file does not say whether it was learned with output negation or board inversion,
//! and the wrong view ruins a player. These were published with board inversion.

use crate::View;
use outflank_runs::files::checksum;

/// First 16 hexadecimal digits of the SHA-256 of each file, and who it is.
const INVERTED: [(&str, &str); 8] = [
    ("2ef2edf272fd00f0", "RunnarsonLucas2014IPref1"),
    ("d23846534d811719", "RunnarsonLucas2014IPrefN"),
    ("26534896c41f0d18", "Manning2010GECCO"),
    ("164c7a40f928c906", "JaskowskiSzubert2015CoCMAES-2"),
    ("b59c7b14b7fbb97f", "JaskowskiSzubert2015CoCMAES-3"),
    ("ca01d6d09d3ae719", "JaskowskiSzubert2015CoCMAES-4"),
    ("8a220f302d28612c", "JaskowskiSzubert2015CoCMAES-4+2x2"),
    ("574d2b04694d03c1", "Jaskowski2014All2"),
];

/// The view of a published file, if this is one whose view is not the customary one.
pub(super) fn view(bytes: &[u8]) -> Option<View> {
    let sum = checksum(bytes);
    INVERTED.iter().any(|(known, _)| sum.starts_with(known)).then_some(View::Invert)
}
