//! What `shim.cpp` and `norm_relu.cpp` offer.

use std::ffi::{CStr, c_char, c_int, c_void};
use tch::{TchError, Tensor};

unsafe extern "C" {
    fn outflank_sgd(
        weights: *const c_void,
        gradient: *const c_void,
        velocity: *const c_void,
        rate: *const c_void,
        decay: f64,
        momentum: f64,
        nesterov: bool,
        why: *mut c_char,
        room: usize,
    ) -> c_int;
    fn outflank_adamw(
        weights: *const c_void,
        gradient: *const c_void,
        mean: *const c_void,
        square: *const c_void,
        rate: *const c_void,
        step: *const c_void,
        decay: f64,
        first: f64,
        second: f64,
        why: *mut c_char,
        room: usize,
    ) -> c_int;
    pub(crate) fn outflank_norm_relu_prepare(
        text: *const c_char,
        why: *mut c_char,
        room: usize,
    ) -> c_int;
    pub(crate) fn outflank_norm_relu(
        x: *const c_void,
        scale: *const c_void,
        shift: *const c_void,
        mean: *const c_void,
        variance: *const c_void,
        tickets: *const c_void,
        follow: f64,
        epsilon: f64,
        y: *mut *mut c_void,
        why: *mut c_char,
        room: usize,
    ) -> c_int;
    pub(crate) fn outflank_graph_new(
        graph: *mut *mut c_void,
        why: *mut c_char,
        room: usize,
    ) -> c_int;
    pub(crate) fn outflank_graph_free(graph: *mut c_void);
    pub(crate) fn outflank_graph_enter(graph: *mut c_void, why: *mut c_char, room: usize) -> c_int;
    pub(crate) fn outflank_graph_leave(graph: *mut c_void, why: *mut c_char, room: usize) -> c_int;
    pub(crate) fn outflank_graph_begin(graph: *mut c_void, why: *mut c_char, room: usize) -> c_int;
    pub(crate) fn outflank_graph_end(
        graph: *mut c_void,
        keep: bool,
        why: *mut c_char,
        room: usize,
    ) -> c_int;
    pub(crate) fn outflank_graph_replay(graph: *mut c_void, why: *mut c_char, room: usize)
    -> c_int;
}

/// Calls a function that answers 0, or else gives its reason.
pub(crate) fn call(work: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<(), TchError> {
    let mut why: [c_char; 1024] = [0; 1024];
    if work(why.as_mut_ptr(), why.len()) == 0 {
        return Ok(());
    }
    // SAFETY: the text was zeros and its last place stays zero, so it ends inside.
    let text = unsafe { CStr::from_ptr(why.as_ptr()) };
    Err(TchError::Torch(text.to_string_lossy().into_owned()))
}

pub(crate) fn pointer(tensor: &Tensor) -> *const c_void {
    tensor.as_ptr().cast()
}

/// A step of gradient descent with momentum, in one operation; the rate is a number on the device.
pub(crate) fn sgd(
    [weights, gradient, velocity]: [&Tensor; 3],
    rate: &Tensor,
    decay: f64,
    (momentum, nesterov): (f64, bool),
) -> Result<(), TchError> {
    let [weights, gradient, velocity] = [weights, gradient, velocity].map(pointer);
    let rate = pointer(rate);
    // SAFETY: the pointers are those of tensors that live until the call returns.
    call(|why, room| unsafe {
        outflank_sgd(weights, gradient, velocity, rate, decay, momentum, nesterov, why, room)
    })
}

/// A step of AdamW in one operation; its rate and its number, from 1, are numbers on the device.
pub(crate) fn adamw(
    [weights, gradient, mean, square]: [&Tensor; 4],
    [rate, step]: [&Tensor; 2],
    decay: f64,
    (first, second): (f64, f64),
) -> Result<(), TchError> {
    let [weights, gradient, mean, square] = [weights, gradient, mean, square].map(pointer);
    let [rate, step] = [rate, step].map(pointer);
    // SAFETY: the pointers are those of tensors that live until the call returns.
    call(|why, room| unsafe {
        outflank_adamw(weights, gradient, mean, square, rate, step, decay, first, second, why, room)
    })
}
