//! The plot's area on the page, and the mapping from data units to it.

use super::super::axis::{powers, ticks};
use super::super::figure::{Figure, HorizontalAxis, Scale};

/// Share of the height that is linear, if the scale is logarithmic above a value.
const LINEAR_PART: f64 = 0.6;

/// An axis: its ends and its scale.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub from: f64,
    pub to: f64,
    pub scale: Scale,
}

impl Axis {
    /// The position of a value between the axis' ends, 0 to 1.
    pub(super) fn part(self, v: f64) -> f64 {
        let between = |v: f64, from: f64, to: f64| {
            if to > from {
                ((v - from) / (to - from)).clamp(0.0, 1.0)
            } else {
                0.0
            }
        };
        let log = |v: f64| v.max(f64::MIN_POSITIVE).log2();
        match self.scale {
            Scale::Linear => between(v, self.from, self.to),
            Scale::Log2 => between(log(v), log(self.from), log(self.to)),
            // If no value is far above it, the whole axis is linear.
            Scale::LogAbove(at) if self.to < 2.0 * at => between(v, 0.0, self.to),
            Scale::LogAbove(at) if v <= at => LINEAR_PART * between(v, 0.0, at),
            Scale::LogAbove(at) => {
                LINEAR_PART + (1.0 - LINEAR_PART) * between(log(v), log(at), log(self.to))
            }
        }
    }
}

pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub horizontal: Axis,
    pub up: Axis,
}

impl Frame {
    pub(super) fn new(
        figure: &Figure,
        names: usize,
        (left, top): (f64, f64),
        (right, height): (f64, f64),
    ) -> Frame {
        let horizontal = match &figure.horizontal {
            HorizontalAxis::Numbers { from, to, log2, .. } => Axis {
                from: *from,
                to: *to,
                scale: if *log2 { Scale::Log2 } else { Scale::Linear },
            },
            HorizontalAxis::Categories { .. } => Axis {
                from: 0.0,
                to: names.max(1) as f64,
                scale: Scale::Linear,
            },
        };
        Frame {
            left,
            top,
            width: (right - left).max(20.0),
            height: (height - top - 42.0).max(20.0),
            horizontal,
            up: Axis {
                from: figure.bottom(),
                to: figure.ceiling(),
                scale: figure.scale,
            },
        }
    }

    pub(super) fn x(&self, v: f64) -> f64 {
        self.left + self.width * self.horizontal.part(v)
    }

    pub(super) fn y(&self, v: f64) -> f64 {
        self.top + self.height * (1.0 - self.up.part(v))
    }

    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// The values that are marked at the axis.
pub(super) fn values(figure: &Figure, lying: bool) -> Vec<f64> {
    let (bottom, top) = (figure.bottom(), figure.ceiling());
    match figure.scale {
        Scale::Log2 => powers(bottom, top),
        Scale::LogAbove(at) if top >= 2.0 * at => {
            let above = (1..40).map(|k| at * 2f64.powi(k));
            let above: Vec<f64> = above.take_while(|&v| v <= top * 1.001).collect();
            // There is room for only a few of them.
            let each = above.len().div_ceil(4).max(1);
            let few = above.iter().rev().step_by(each).rev().copied();
            [0.0, at / 2.0, at].into_iter().chain(few).collect()
        }
        _ => ticks(top, if lying { 6 } else { 5 }),
    }
}
