//! Systematic tuples against the published players that are made of them.

use outflank_models::files::load_network;
use outflank_models::tuple_shapes::{blocks, lines};
use outflank_models::{Tuple, Tuples};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The sets of squares that the images of each tuple read.
fn sets(tuples: &Tuples) -> BTreeSet<BTreeSet<u64>> {
    let set = |tuple: &Tuple| {
        tuple.placements().iter().map(|i| i.iter().fold(0, |all, square| all | square.bit())).collect()
    };
    tuples.tuples().iter().map(set).collect()
}

#[test]
fn published_systematic_players_have_our_tuples() {
    let Some(data) = std::env::var_os("OUTFLANK_DATA").map(PathBuf::from) else {
        eprintln!("skipped: OUTFLANK_DATA is not set");
        return;
    };
    for (file, length, with_blocks) in [
        ("Jaskowski2014All2", 2, false),
        ("JaskowskiSzubert2015CoCMAES-3", 3, false),
        ("JaskowskiSzubert2015CoCMAES-4", 4, false),
        ("JaskowskiSzubert2015CoCMAES-4+2x2", 4, true),
    ] {
        let path = data.join("players").join(format!("{file}.player"));
        let (published, _) = load_network(&path).unwrap();
        let mut squares = lines(length).unwrap();
        if with_blocks {
            squares.extend(blocks());
        }
        let ours = Tuples::symmetric(&squares).unwrap();
        assert_eq!(ours.tuples().len(), published.tuples().tuples().len(), "{file}");
        assert_eq!(sets(&ours), sets(published.tuples()), "{file}");
    }
}
