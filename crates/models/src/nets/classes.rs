//! The output classes of policy networks: the 60 squares that are empty in the initial position.

use outflank_games::othello::{Square, Symmetry};

/// Number of classes.
pub const CLASSES: usize = 60;

const CENTER: [u8; 4] = [27, 28, 35, 36];

/// The class of each square.
const CLASS_OF_SQUARE: [Option<u8>; 64] = {
    let mut classes = [None; 64];
    let (mut square, mut class) = (0, 0);
    while square < 64 {
        let mut at = 0;
        let mut central = false;
        while at < CENTER.len() {
            central |= CENTER[at] as usize == square;
            at += 1;
        }
        if !central {
            classes[square] = Some(class);
            class += 1;
        }
        square += 1;
    }
    classes
};

/// Returns the class of a square; `None` for the four center squares.
#[must_use]
pub fn class_of(square: Square) -> Option<usize> {
    CLASS_OF_SQUARE[square.index()].map(usize::from)
}

/// Returns the square of a class.
fn square_of_class(class: usize) -> Option<Square> {
    (0..64).filter_map(Square::new).find(|&square| class_of(square) == Some(class))
}

/// Returns the permutation of the classes under a symmetry.
#[must_use]
pub fn class_permutation(symmetry: Symmetry) -> [usize; CLASSES] {
    std::array::from_fn(|class| {
        square_of_class(class)
            .and_then(|square| class_of(symmetry.transform_square(square)))
            .unwrap_or(class)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_except_the_center_has_a_class() {
        let classes: Vec<_> = (0..64).filter_map(Square::new).filter_map(class_of).collect();
        assert_eq!(classes, (0..60).collect::<Vec<_>>());
        let d4: Square = "d4".parse().unwrap();
        assert_eq!(class_of(d4), None);
        for class in 0..CLASSES {
            assert_eq!(square_of_class(class).and_then(class_of), Some(class));
        }
        assert_eq!(square_of_class(60), None);
    }

    #[test]
    fn symmetries_permute_the_classes() {
        for symmetry in Symmetry::ALL {
            let mut to = class_permutation(symmetry).to_vec();
            to.sort_unstable();
            assert_eq!(to, (0..60).collect::<Vec<_>>());
        }
    }
}
