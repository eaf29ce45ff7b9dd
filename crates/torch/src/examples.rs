//! The training examples on the device. Bitboards are decoded and transformed there.

use outflank_games::othello::{Square, Symmetry};
use outflank_learners::cnn::TrainingSet;
use outflank_models::nets::{CLASSES, class_permutation};
use tch::{Device, Kind, TchError, Tensor};

/// A training set in device memory.
pub(crate) struct DeviceExamples {
    /// Input planes as 64-bit words, one row per base example.
    words: Tensor,
    /// The target class of each base example.
    targets: Tensor,
    /// For each example, eight times the index of its base example plus that of its symmetry.
    items: Tensor,
    /// For each symmetry and each square of the transformed board, the source square.
    source_squares: Tensor,
    /// For each symmetry and class, the transformed class.
    class_maps: Tensor,
    planes: i64,
}

impl DeviceExamples {
    /// Copies a training set to the device.
    pub(crate) fn new(
        training_set: &TrainingSet,
        planes: usize,
        device: Device,
    ) -> Result<DeviceExamples, TchError> {
        let planes = planes as i64;
        let words: Vec<i64> = training_set.words.iter().map(|&word| word as i64).collect();
        let items: Vec<i32> = training_set.items.iter().map(|&item| item as i32).collect();
        let source_squares: Vec<i64> = Symmetry::ALL
            .iter()
            .flat_map(|symmetry| {
                let inverse = symmetry.inverse();
                (0..64)
                    .filter_map(Square::new)
                    .map(move |s| inverse.transform_square(s).index() as i64)
            })
            .collect();
        let class_maps: Vec<i64> = Symmetry::ALL
            .iter()
            .flat_map(|&s| class_permutation(s))
            .map(|class| class as i64)
            .collect();
        let to_device = |tensor: Tensor| tensor.f_to_device(device);
        Ok(DeviceExamples {
            words: to_device(Tensor::f_from_slice(&words)?.f_view([-1, planes])?)?,
            targets: to_device(Tensor::f_from_slice(&training_set.targets)?)?,
            items: to_device(Tensor::f_from_slice(&items)?)?,
            source_squares: to_device(Tensor::f_from_slice(&source_squares)?.f_view([8, 64])?)?,
            class_maps: to_device(Tensor::f_from_slice(&class_maps)?)?,
            planes,
        })
    }

    /// Returns the input planes and target classes of a batch.
    ///
    /// A symmetry only permutes the shifts that decode the bitboards, so it takes no extra time.
    pub(crate) fn batch(&self, indices: &Tensor, kind: Kind) -> Result<(Tensor, Tensor), TchError> {
        let items = self.items.f_index_select(0, indices)?.f_to_kind(Kind::Int64)?;
        let symmetries = items.f_bitwise_and(7)?;
        let base = items.f_bitwise_right_shift_tensor_scalar(3)?;
        let words = self.words.f_index_select(0, &base)?;
        let shifts = self.source_squares.f_index_select(0, &symmetries)?;
        let classes = self.targets.f_index_select(0, &base)?.f_to_kind(Kind::Int64)?;
        let rows = symmetries.f_mul_scalar(CLASSES as i64)?.f_add(&classes)?;
        Ok((self.decode_planes(&words, &shifts, kind)?, self.class_maps.f_index_select(0, &rows)?))
    }

    /// Returns the input planes of positions given as words.
    pub(crate) fn decode(&self, words: &[u64], kind: Kind) -> Result<Tensor, TchError> {
        let words: Vec<i64> = words.iter().map(|&word| word as i64).collect();
        let words = Tensor::f_from_slice(&words)?
            .f_view([-1, self.planes])?
            .f_to_device(self.words.device())?;
        let shifts = self.source_squares.f_narrow(0, 0, 1)?;
        self.decode_planes(&words, &shifts, kind)
    }

    /// Decodes words to planes in channels-last layout.
    fn decode_planes(
        &self,
        words: &Tensor,
        shifts: &Tensor,
        kind: Kind,
    ) -> Result<Tensor, TchError> {
        words
            .f_unsqueeze(1)?
            .f_bitwise_right_shift(&shifts.f_unsqueeze(2)?)?
            .f_bitwise_and(1)?
            .f_to_kind(kind)?
            .f_view([-1, 8, 8, self.planes])?
            .f_permute([0, 3, 1, 2])
    }
}
