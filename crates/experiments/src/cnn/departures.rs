//! Where the exhibits of this paper depart from it.

use super::{
    BATCH, BATCHES_IMAGES, BATCHES_PLAIN, DECAY, LAST_YEAR, MOMENTUM, PASSES_IMAGES, PASSES_PLAIN,
    RATE, SHORT_DECAY, SHORT_MOMENTUM, SHORT_RATE, SHORT_RATE_BARE, SHORT_WARMUP, WARMUP, size,
};
use crate::Scale;
use crate::lab::Lab;
use outflank_report::text::count;

/// Where every exhibit of this paper departs from it.
pub fn departures(lab: &Lab) -> Vec<String> {
    let size = size(lab);
    let short = lab.scale != Scale::Paper && !lab.device.is_accelerated();
    let warmup = if short { SHORT_WARMUP } else { WARMUP };
    let mut all = vec![
        format!(
            "By example is the paper's split: nearly every test example has images of itself among \
             those learned. By game is ours: games up to {LAST_YEAR} are learned from and all later \
             ones are the test (of games that are all of one time, a tenth); the best legal move \
             counts, and on positions that a symmetry maps to themselves the twins of a move share one \
             hit."
        ),
        format!(
            "Matrices begin uniform within one over the root of their inputs, not by He's method; the rate falls along half a \
             cosine unless the paper's scale is asked for, where it is halved twelve times. Over the first \
             {warmup} steps it grows from nothing, of which the paper does not speak. Offsets and what \
             normalisation learns do not decay; the paper does not say whether its do."
        ),
        "The errors are those of counting positions or games; each network was taught once."
            .to_owned(),
    ];
    if lab.device.is_accelerated() {
        let answers = match lab.device.can_train() {
            true => {
                "On a graphics processor networks learn and answer in bfloat16, their weights being kept in \
                     single precision"
            }
            false => {
                "The networks learned on a graphics processor in bfloat16, their weights being kept in single \
                      precision, and were tested there; what a CPU answers, as in games, is in single precision \
                      from weights stored in half"
            }
        };
        all.push(format!("{answers}; the paper computes in single precision throughout."));
    }
    if let Some(seen) = size.seen {
        all.push(format!(
            "Every network saw {} examples in batches of {}; the paper's made {PASSES_PLAIN} passes \
             over a set without images ({} batches) and {PASSES_IMAGES} over one with images ({}), \
             which are batches of {BATCH}. One network answers for both tests: it learned from the \
             games up to {LAST_YEAR}, less the examples that are the test by example.",
            count(seen),
            size.batch,
            count(BATCHES_PLAIN),
            count(BATCHES_IMAGES),
        ));
        let quarter = size.quartered();
        all.push(format!(
            "The networks of Table VI, Conv8+BN among them where it stands beside them, saw {} in batches \
             of {}, which are as many steps: one of them takes as long as all others together.",
            count(quarter.seen.unwrap_or(seen)),
            quarter.batch
        ));
        let longer = match size.in_full.or(size.bagged) {
            Some(_) => format!(", those of Conv8+BN in full and of the short bag by {DECAY:e}"),
            None => String::new(),
        };
        let rates = match lab.device.is_accelerated() {
            true => format!("rates from {SHORT_RATE}, without normalisation {SHORT_RATE_BARE}"),
            false => format!("rates from {SHORT_RATE_BARE}"),
        };
        all.push(format!(
            "Steps have a momentum of {SHORT_MOMENTUM}, looking ahead, and {rates} and in Table VI {RATE}; \
             weights decay by {SHORT_DECAY:e}{longer}. The paper has rates from {RATE}, a momentum of {MOMENTUM} and a decay of \
             {DECAY:e}."
        ));
        if let Some(passes) = size.in_full {
            all.push(format!(
                "Conv8+BN in full made {passes} passes over the paper's own training part."
            ));
        }
        if let (Some(passes), Some(full)) = (size.bagged, size.in_full) {
            all.push(format!(
                "Each network of the bag makes {passes} passes over as many draws as there are examples in \
                 the part that all others learned from, and {full} in full, in batches of {} there.",
                size.small_steps().batch
            ));
        }
    }
    if let Some(games) = size.games {
        all.push(format!(
            "All is of {games} games, drawn by the seed, or of all where there are fewer; the \
             paper's set has 114,871."
        ));
    }
    if size.tested < usize::MAX {
        all.push(format!(
            "Each test is of at most {} positions, evenly spread over all of it.",
            count(size.tested as u64)
        ));
    }
    if lab.scale == Scale::Desk && !lab.device.is_accelerated() {
        all.push(
            "Learned on a CPU: this shows that the networks learn, but orders between them need a \
             graphics processor (--device gpu)."
                .to_owned(),
        );
    }
    if lab.scale == Scale::Smoke {
        all.push(
            "Networks took one step, and times are of batches as small as a test: this scale shows only \
             that everything runs."
                .to_owned(),
        );
    }
    all
}

/// Where dropout departs from the paper.
pub const DROPOUT: &str = "Dropout disables half of the hidden units before the last layer and none of the maps; \
                       the paper does not say which units it disables.";

/// Whose times are told beside the paper's.
pub fn times(device: &str) -> String {
    format!("The times are of the {device} on which the networks were tested, not of a GTX Titan.")
}
