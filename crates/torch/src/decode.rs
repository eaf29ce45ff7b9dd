//! Positions on the device: words, moves and items, decoded and turned there.

use outflank_games::othello::{Square, Symmetry};
use outflank_learners::cnn::TrainingSet;
use outflank_models::nets::{CLASSES, classes_of};
use tch::{Device, Kind, TchError, Tensor};

/// The examples on the device.
pub(crate) struct Examples {
    /// Planes as 64-bit words, a row for each base example.
    words: Tensor,
    targets: Tensor,
    items: Tensor,
    /// For each symmetry and each square of the image, the square that it shows.
    shows: Tensor,
    /// For each symmetry and class, the class that it becomes.
    becomes: Tensor,
    planes: i64,
}

impl Examples {
    pub(crate) fn new(study: &TrainingSet, planes: usize, device: Device) -> Result<Examples, TchError> {
        let planes = planes as i64;
        let words: Vec<i64> = study.words.iter().map(|&word| word as i64).collect();
        let items: Vec<i32> = study.items.iter().map(|&item| item as i32).collect();
        let shows: Vec<i64> = Symmetry::ALL
            .iter()
            .flat_map(|symmetry| {
                let back = symmetry.inverse();
                (0..64).filter_map(Square::new).map(move |s| back.square(s).index() as i64)
            })
            .collect();
        let becomes: Vec<i64> =
            Symmetry::ALL.iter().flat_map(|&s| classes_of(s)).map(|class| class as i64).collect();
        Ok(Examples {
            words: Tensor::f_from_slice(&words)?.f_view([-1, planes])?.f_to_device(device)?,
            targets: Tensor::f_from_slice(&study.targets)?.f_to_device(device)?,
            items: Tensor::f_from_slice(&items)?.f_to_device(device)?,
            shows: Tensor::f_from_slice(&shows)?.f_view([8, 64])?.f_to_device(device)?,
            becomes: Tensor::f_from_slice(&becomes)?.f_to_device(device)?,
            planes,
        })
    }

    /// The planes and classes of a batch. The symmetry is only another order of shifts, so an image
    /// costs no more than the position itself.
    pub(crate) fn batch(&self, places: &Tensor, kind: Kind) -> Result<(Tensor, Tensor), TchError> {
        let items = self.items.f_index_select(0, places)?.f_to_kind(Kind::Int64)?;
        let symmetries = items.f_bitwise_and(7)?;
        let base = items.f_bitwise_right_shift_tensor_scalar(3)?;
        let words = self.words.f_index_select(0, &base)?;
        let shifts = self.shows.f_index_select(0, &symmetries)?;
        let classes = self.targets.f_index_select(0, &base)?.f_to_kind(Kind::Int64)?;
        let rows = symmetries.f_mul_scalar(CLASSES as i64)?.f_add(&classes)?;
        Ok((self.planes(&words, &shifts, kind)?, self.becomes.f_index_select(0, &rows)?))
    }

    /// The planes of positions given by their words alone.
    pub(crate) fn decode(&self, words: &[u64], kind: Kind) -> Result<Tensor, TchError> {
        let words: Vec<i64> = words.iter().map(|&word| word as i64).collect();
        let words = Tensor::f_from_slice(&words)?
            .f_view([-1, self.planes])?
            .f_to_device(self.words.device())?;
        let shifts = self.shows.f_narrow(0, 0, 1)?;
        self.planes(&words, &shifts, kind)
    }

    /// Planes whose channels lie innermost, which is how the device likes them.
    fn planes(&self, words: &Tensor, shifts: &Tensor, kind: Kind) -> Result<Tensor, TchError> {
        words
            .f_unsqueeze(1)?
            .f_bitwise_right_shift(&shifts.f_unsqueeze(2)?)?
            .f_bitwise_and(1)?
            .f_to_kind(kind)?
            .f_view([-1, 8, 8, self.planes])?
            .f_permute([0, 3, 1, 2])
    }
}
