//! What a figure shows, in data units.

/// A colour, 0xRRGGBB. The palette is Okabe and Ito's, which people with any colour vision can tell
/// apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color(pub u32);

pub(crate) const BLUE: Color = Color(0x0072B2);
pub(crate) const ORANGE: Color = Color(0xE69F00);
pub(crate) const RED: Color = Color(0xD55E00);
pub(crate) const GREEN: Color = Color(0x009E73);
pub(crate) const PINK: Color = Color(0xCC79A7);
pub(crate) const SKY: Color = Color(0x56B4E9);
pub(crate) const YELLOW: Color = Color(0xF0E442);
pub(crate) const GREY: Color = Color(0x999999);
pub(crate) const BLACK: Color = Color(0x000000);

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Bars on the categories, stacked on the series before.
    Bars,
    /// A filled area, stacked on the areas before; steps between the x values.
    Area,
    /// A line.
    Line,
    /// A dashed line.
    Dashed,
    /// Dots.
    Points,
}

/// A row of numbers with a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub name: String,
    pub color: Color,
    pub mark: Mark,
    /// (x, y); for bars x is the index of the category.
    pub points: Vec<(f64, f64)>,
}

/// The horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Across {
    /// Named bars; drawn lying when names are long.
    Categories { names: Vec<String>, lying: bool },
    /// Numbers from 0 or the first to the last, with a title.
    Numbers {
        title: String,
        from: f64,
        to: f64,
        log2: bool,
    },
}

/// A figure: series over one pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub(crate) title: String,
    pub(crate) across: Across,
    /// The title of the axis of values.
    pub(crate) up: String,
    /// The values' axis ends at least here.
    pub(crate) at_least: f64,
    /// As the across axis: powers of two.
    pub(crate) up_log2: bool,
    pub(crate) series: Vec<Series>,
}

impl Figure {
    /// Where the axis upwards begins: 0, or on a logarithmic one the power of two at or below the
    /// least value, at most 1 and at least 1/1024.
    pub(crate) fn bottom(&self) -> f64 {
        if !self.up_log2 {
            return 0.0;
        }
        let values = self
            .series
            .iter()
            .flat_map(|s| s.points.iter().map(|p| p.1));
        let least = values.filter(|v| *v > 0.0).fold(1.0, f64::min);
        2f64.powf(least.log2().floor()).max(1.0 / 1024.0)
    }

    /// The largest value that is drawn: of a stack, its top.
    pub(crate) fn top(&self) -> f64 {
        // Lying bars stand below each other.
        let lying = matches!(&self.across, Across::Categories { lying: true, .. });
        let mut stacks: Vec<f64> = Vec::new();
        let mut top = self.at_least;
        for series in &self.series {
            for (i, &(x, y)) in series.points.iter().enumerate() {
                let at = match series.mark {
                    Mark::Bars if lying => {
                        top = top.max(y);
                        continue;
                    }
                    Mark::Bars => x as usize,
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
}
