//! How results are shown: tables, plots, boards, and one self-contained page to hold them.
//!
//! Everything here is a pure function from plain numbers and names to a string. Names are
//! untrusted: every text is escaped for where it goes. Numbers may be missing: what is not a
//! finite number is left out of a plot and printed as a dash.
//!
//! This layer knows no game beyond an 8x8 board, reads nothing and writes nothing.

pub mod board;
pub mod page;
pub mod plot;
pub mod svg;
pub mod table;
pub mod text;

pub use board::{Board, Disc};
pub use page::{Page, Section};
pub use plot::{BarChart, CrossTable, HeatMap, Plot, Point, Series};
pub use svg::{Figure, Svg, Theme};
pub use table::{Align, Table};
