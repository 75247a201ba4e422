//! The size of a figure.

/// A page for a figure, in points (1/72 inch).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Page {
    /// Width of the figure.
    pub width: f64,
    /// Height of the figure.
    pub height: f64,
    /// Size of its text in points; the title is a sixth larger.
    pub font: f64,
}

impl Page {
    /// One column of a two-column paper.
    pub const COLUMN: Page = Page {
        width: 252.0,
        height: 180.0,
        font: 7.0,
    };
    /// A 16:9 slide.
    pub const SLIDE: Page = Page {
        width: 960.0,
        height: 540.0,
        font: 18.0,
    };

    /// A page of this size, with text of 11 points.
    pub const fn with_size(width: f64, height: f64) -> Page {
        Page {
            width,
            height,
            font: 11.0,
        }
    }
}
