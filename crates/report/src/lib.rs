#![doc = include_str!("../README.md")]

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
