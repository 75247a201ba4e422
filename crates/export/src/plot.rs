//! Figures for papers and pages: SVG, PNG, and the numbers behind them as CSV or a gnuplot script.
//!
//! A kind of figure ([`breakdown`], …) turns runs into a [`Figure`]: titled axes with bars, areas
//! and lines in data units. The formats draw the same figure, so they can't differ.

mod axis;
mod data;
mod draw;
mod figure;
mod figures;
pub(crate) mod fill;
pub(crate) mod flame;
mod page;
mod png;
pub(crate) mod svg;

pub use data::{csv, csv_field, gnuplot};
pub use figure::Figure;
pub use figures::{PlotRun, breakdown, profile, scale, sites, speedup};
pub use flame::FlameFigure;
pub use page::Page;
pub use png::{flame_png, png};
pub use svg::{flame_svg, svg, xml_text};
