//! The content of a figure, in data units.

use super::fill::Fill;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Bars on the categories, stacked on the earlier series.
    Bars,
    /// A filled area, stacked on the earlier areas; it steps between the x values.
    Area,
    /// A line.
    Line,
    /// A dashed line.
    Dashed,
    /// A dotted line.
    Dotted,
    /// Dots: measured values.
    Points,
    /// Rings: computed values.
    Rings,
}

impl Mark {
    /// The stroke of its line; `None` if the mark is not a line.
    pub(crate) fn stroke(self) -> Option<Stroke> {
        match self {
            Mark::Line => Some(Stroke::Solid),
            Mark::Dashed => Some(Stroke::Dashed),
            Mark::Dotted => Some(Stroke::Dotted),
            Mark::Bars | Mark::Area | Mark::Points | Mark::Rings => None,
        }
    }
}

/// How a line is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

impl Stroke {
    /// Lengths of a mark and the gap after it; `None` for a solid line.
    pub(crate) fn lengths(self) -> Option<(f32, f32)> {
        match self {
            Stroke::Solid => None,
            Stroke::Dashed => Some((5.0, 3.0)),
            Stroke::Dotted => Some((1.5, 2.0)),
        }
    }
}

/// A named series of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub name: String,
    pub fill: Fill,
    pub mark: Mark,
    /// (x, y); for bars x is the index of the category.
    pub points: Vec<(f64, f64)>,
    /// Labels next to the points, in their order; there may be fewer.
    pub labels: Vec<String>,
}

/// The horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HorizontalAxis {
    /// Named bars; drawn horizontally if the names are long.
    Categories { names: Vec<String>, lying: bool },
    /// Numbers from 0 or the first to the last, with a title.
    Numbers {
        title: String,
        from: f64,
        to: f64,
        log2: bool,
    },
}

/// The mapping from values to heights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    Linear,
    /// Powers of two.
    Log2,
    /// Linear up to a value, and its powers of two above, in the upper 40 %.
    LogAbove(f64),
}

/// A figure: series over one pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub(crate) title: String,
    /// The run, its time, and how busy it was; may be empty.
    pub(crate) subtitle: String,
    pub(crate) horizontal: HorizontalAxis,
    /// The title of the value axis.
    pub(crate) up: String,
    /// The value axis ends at this value or above.
    pub(crate) at_least: f64,
    pub(crate) scale: Scale,
    /// A dashed horizontal line at a value, and its name.
    pub(crate) level: Option<(f64, String)>,
    pub(crate) series: Vec<Series>,
}

impl Figure {
    /// The start of the value axis: 0; on a logarithmic axis the power of two at or below the
    /// smallest value, at most 1 and at least 1/1024.
    pub(crate) fn bottom(&self) -> f64 {
        if self.scale != Scale::Log2 {
            return 0.0;
        }
        let values = self
            .series
            .iter()
            .flat_map(|s| s.points.iter().map(|p| p.1));
        let least = values.filter(|v| *v > 0.0).fold(1.0, f64::min);
        2f64.powf(least.log2().floor()).max(1.0 / 1024.0)
    }

    /// The largest value that is drawn; for a stack, its top.
    pub(crate) fn top(&self) -> f64 {
        // Horizontal bars are below each other.
        let lying = matches!(
            &self.horizontal,
            HorizontalAxis::Categories { lying: true, .. }
        );
        let mut stacks: Vec<f64> = Vec::new();
        let mut top = self.at_least;
        for series in &self.series {
            for (i, &(x, y)) in series.points.iter().enumerate() {
                let at = match series.mark {
                    Mark::Bars if !lying => x as usize,
                    Mark::Area => i,
                    _ => {
                        top = top.max(y);
                        continue;
                    }
                };
                if stacks.len() <= at {
                    stacks.resize(at + 1, 0.0);
                }
                stacks[at] += y.max(0.0);
                top = top.max(stacks[at]);
            }
        }
        if top > 0.0 && top.is_finite() {
            top
        } else {
            1.0
        }
    }

    /// The end of the value axis: a little above the largest value, so that nothing touches the
    /// frame and a value fits above a bar.
    pub(crate) fn ceiling(&self) -> f64 {
        let top = self.top();
        match self.scale {
            Scale::Linear if self.has_bars() => top * 1.12,
            Scale::Linear => top * 1.04,
            Scale::Log2 => top * 1.1,
            Scale::LogAbove(p) if top <= p => p * 1.06,
            Scale::LogAbove(p) => p * 2f64.powf((top / p).log2().ceil().max(1.0)),
        }
    }

    pub(crate) fn has_bars(&self) -> bool {
        matches!(&self.horizontal, HorizontalAxis::Categories { .. })
    }
}
