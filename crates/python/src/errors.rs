//! Conversion of errors to Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;

create_exception!(
    outflank,
    OutflankError,
    PyValueError,
    "An error of Outflank. Its text says what is wrong, where, and what to do."
);

/// Creates an exception with the text of an error.
pub(crate) fn error(error: impl Display) -> PyErr {
    OutflankError::new_err(error.to_string())
}

/// Converts the error of a result to an exception.
pub(crate) trait OrRaise<T> {
    /// Returns the value, or the error as an exception with the same text.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Display> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(error)
    }
}
