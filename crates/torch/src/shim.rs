//! Bindings to `shim.cpp` and `norm_relu.cpp`.

use std::ffi::{CStr, c_char, c_int, c_void};
use tch::{TchError, Tensor};

unsafe extern "C" {
    fn outflank_sgd(
        weights: *const c_void,
        gradient: *const c_void,
        velocity: *const c_void,
        learning_rate: *const c_void,
        decay: f64,
        momentum: f64,
        nesterov: bool,
        error: *mut c_char,
        len: usize,
    ) -> c_int;
    fn outflank_adamw(
        weights: *const c_void,
        gradient: *const c_void,
        mean: *const c_void,
        square: *const c_void,
        learning_rate: *const c_void,
        step: *const c_void,
        decay: f64,
        beta1: f64,
        beta2: f64,
        error: *mut c_char,
        len: usize,
    ) -> c_int;
    pub(crate) fn outflank_norm_relu_prepare(
        text: *const c_char,
        error: *mut c_char,
        len: usize,
    ) -> c_int;
    pub(crate) fn outflank_norm_relu(
        x: *const c_void,
        scale: *const c_void,
        shift: *const c_void,
        mean: *const c_void,
        variance: *const c_void,
        tickets: *const c_void,
        momentum: f64,
        epsilon: f64,
        y: *mut *mut c_void,
        error: *mut c_char,
        len: usize,
    ) -> c_int;
    pub(crate) fn outflank_graph_new(
        graph: *mut *mut c_void,
        error: *mut c_char,
        len: usize,
    ) -> c_int;
    pub(crate) fn outflank_graph_free(graph: *mut c_void);
    pub(crate) fn outflank_graph_enter(graph: *mut c_void, error: *mut c_char, len: usize)
    -> c_int;
    pub(crate) fn outflank_graph_leave(graph: *mut c_void, error: *mut c_char, len: usize)
    -> c_int;
    pub(crate) fn outflank_graph_begin(graph: *mut c_void, error: *mut c_char, len: usize)
    -> c_int;
    pub(crate) fn outflank_graph_end(
        graph: *mut c_void,
        keep: bool,
        error: *mut c_char,
        len: usize,
    ) -> c_int;
    pub(crate) fn outflank_graph_replay(
        graph: *mut c_void,
        error: *mut c_char,
        len: usize,
    ) -> c_int;
}

/// Calls a function that returns 0 on success and otherwise writes an error message.
pub(crate) fn call(work: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<(), TchError> {
    let mut error: [c_char; 1024] = [0; 1024];
    if work(error.as_mut_ptr(), error.len()) == 0 {
        return Ok(());
    }
    // SAFETY: the buffer was zeroed and its last byte stays zero, so the text is NUL-terminated.
    let text = unsafe { CStr::from_ptr(error.as_ptr()) };
    Err(TchError::Torch(text.to_string_lossy().into_owned()))
}

/// Returns the C++ pointer of a tensor.
pub(crate) fn pointer(tensor: &Tensor) -> *const c_void {
    tensor.as_ptr().cast()
}

/// Executes a fused SGD step; the learning rate is a scalar on the device.
pub(crate) fn sgd(
    [weights, gradient, velocity]: [&Tensor; 3],
    learning_rate: &Tensor,
    decay: f64,
    (momentum, nesterov): (f64, bool),
) -> Result<(), TchError> {
    let [weights, gradient, velocity] = [weights, gradient, velocity].map(pointer);
    let learning_rate = pointer(learning_rate);
    // SAFETY: the pointers are those of tensors that live until the call returns.
    call(|error, len| unsafe {
        outflank_sgd(
            weights,
            gradient,
            velocity,
            learning_rate,
            decay,
            momentum,
            nesterov,
            error,
            len,
        )
    })
}

/// Executes a fused AdamW step; the learning rate and the step number, from 1, are scalars on the
/// device.
pub(crate) fn adamw(
    [weights, gradient, mean, square]: [&Tensor; 4],
    [learning_rate, step]: [&Tensor; 2],
    decay: f64,
    (beta1, beta2): (f64, f64),
) -> Result<(), TchError> {
    let [weights, gradient, mean, square] = [weights, gradient, mean, square].map(pointer);
    let [learning_rate, step] = [learning_rate, step].map(pointer);
    // SAFETY: the pointers are those of tensors that live until the call returns.
    call(|error, len| unsafe {
        outflank_adamw(
            weights,
            gradient,
            mean,
            square,
            learning_rate,
            step,
            decay,
            beta1,
            beta2,
            error,
            len,
        )
    })
}
