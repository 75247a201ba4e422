//! How large a figure is.

/// A page for a figure, in points (1/72 inch).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Page {
    /// Width of the figure.
    pub width: f64,
    /// Height of the figure.
    pub height: f64,
    /// Size of its text; the title is a sixth larger.
    pub font: f64,
}

impl Page {
    /// One column of a paper with two.
    pub const COLUMN: Page = Page {
        width: 252.0,
        height: 180.0,
        font: 7.0,
    };
    /// A slide of 16 to 9.
    pub const SLIDE: Page = Page {
        width: 960.0,
        height: 540.0,
        font: 18.0,
    };

    /// So large, with text of 11 points.
    pub const fn of(width: f64, height: f64) -> Page {
        Page {
            width,
            height,
            font: 11.0,
        }
    }
}
