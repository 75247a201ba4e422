//! Colours and textures of figures: those of the page (ui/src/colors.ts, ui/src/patterns.tsx).

/// A colour as 0xRRGGBB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color(pub u32);

pub(crate) const BLUE: Color = Color(0x0072B2);
pub(crate) const ORANGE: Color = Color(0xD55E00);
pub(crate) const GREEN: Color = Color(0x117733);
pub(crate) const WINE: Color = Color(0x882255);
pub(crate) const GREY: Color = Color(0x616B7A);
pub(crate) const GRID: Color = Color(0xE4E7EC);
pub(crate) const BLACK: Color = Color(0x12161D);
pub(crate) const WHITE: Color = Color(0xFFFFFF);

impl Color {
    /// Relative luminance of WCAG 2, 0 to 1.
    pub(crate) fn luminance(self) -> f64 {
        let [_, red, green, blue] = self.0.to_be_bytes();
        let linear = |v: u8| {
            let v = f64::from(v) / 255.0;
            if v <= 0.04045 {
                v / 12.92
            } else {
                ((v + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// Black or white, whichever has more contrast on this colour.
    pub(crate) fn ink(self) -> Color {
        if self.luminance() > 0.19 {
            BLACK
        } else {
            WHITE
        }
    }
}

/// Marks over a colour, which distinguish areas in greyscale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texture {
    None,
    Diagonal,
    Dots,
    Lines,
    Cross,
}

/// The look of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fill {
    pub color: Color,
    pub texture: Texture,
    /// The colour of the texture's marks.
    pub marks: Color,
}

impl Fill {
    pub(crate) const fn plain(color: Color) -> Fill {
        Fill::textured(color, Texture::None, color)
    }

    const fn textured(color: Color, texture: Texture, marks: Color) -> Fill {
        Fill {
            color,
            texture,
            marks,
        }
    }
}

pub(crate) const WORK: Fill = Fill::plain(BLUE);
pub(crate) const DELAY: Fill = Fill::textured(ORANGE, Texture::Diagonal, Color(0xFFB98A));
pub(crate) const READY_DEPEND: Fill = Fill::textured(Color(0xF5D3BC), Texture::Diagonal, ORANGE);
pub(crate) const READY_SPAWN: Fill = Fill::plain(Color(0xF2B98F));
pub(crate) const SCHEDULER: Fill = Fill::textured(Color(0xF0E442), Texture::Dots, Color(0x6B6500));
pub(crate) const PROGRAM: Fill =
    Fill::textured(Color(0xECEEF2), Texture::Diagonal, Color(0xB9BFC8));
pub(crate) const DESCHEDULED: Fill = Fill::textured(WHITE, Texture::Lines, GREY);
pub(crate) const BLOCKED: Fill = Fill::textured(WHITE, Texture::Cross, Color(0x8A6D3B));
/// What a damaged trace does not tell.
pub(crate) const UNREAD: Fill = Fill::textured(WHITE, Texture::Diagonal, GREY);
/// Lighter than work, beside which it is also in greyscale.
pub(crate) const RECORDING: Fill = Fill::plain(Color(0xA3ACBA));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_on_a_colour_is_readable() {
        let contrast = |a: Color, b: Color| {
            let (a, b) = (a.luminance(), b.luminance());
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        for fill in [
            WORK,
            DELAY,
            SCHEDULER,
            PROGRAM,
            DESCHEDULED,
            BLOCKED,
            RECORDING,
        ] {
            let color = fill.color;
            assert!(contrast(color, color.ink()) >= 4.5, "{color:x?}");
        }
        // Both are without a texture and beside each other, also in greyscale.
        assert!(contrast(WORK.color, RECORDING.color) >= 2.0);
    }
}
