//! A figure as PNG. The outlines of letters come from a font that is part of the program.

use tiny_skia::{
    FillRule, FilterQuality, LineCap, LineJoin, Paint, Path, PathBuilder, Pattern, Pixmap, Rect,
    SpreadMode, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, OutlineBuilder};

use super::draw::{Anchor, Drawing, Shape, draw, flame, text_width};
use super::figure::Figure;
use super::fill::{Color, Fill, Texture, WHITE};
use super::flame::FlameFigure;
use super::page::Page;

/// The figure as a file, with `scale` pixels per point. `None` if that is not a valid size for a
/// picture.
pub fn png(figure: &Figure, page: &Page, scale: f64) -> Option<Vec<u8>> {
    file(&draw(figure, page), scale)
}

/// The flame graph as a bitmap, like [`png`].
pub fn flame_png(figure: &FlameFigure, page: &Page, scale: f64) -> Option<Vec<u8>> {
    file(&flame::draw(figure, page), scale)
}

fn file(drawing: &Drawing, scale: f64) -> Option<Vec<u8>> {
    let size = |v: f64| (v * scale).round().clamp(1.0, 20_000.0) as u32;
    let mut pixels = Pixmap::new(size(drawing.width), size(drawing.height))?;
    let scale = scale * drawing.unit;
    let face = Face::parse(dejavu::sans::regular(), 0).ok()?;
    let zoom = Transform::from_scale(scale as f32, scale as f32);
    for shape in &drawing.shapes {
        paint(&mut pixels, &face, zoom, shape);
    }
    pixels.encode_png().ok()
}

fn ink(color: Color) -> Paint<'static> {
    let [_, red, green, blue] = color.0.to_be_bytes();
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

fn polygon(points: &[(f64, f64)], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        if i == 0 {
            path.move_to(x as f32, y as f32);
        } else {
            path.line_to(x as f32, y as f32);
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn paint(pixels: &mut Pixmap, face: &Face, zoom: Transform, shape: &Shape) {
    match shape {
        Shape::Box {
            x,
            y,
            width,
            height,
            fill,
        } => {
            let rect = Rect::from_xywh(*x as f32, *y as f32, *width as f32, *height as f32);
            if let Some(path) = rect.map(PathBuilder::from_rect) {
                filled(pixels, &path, *fill, zoom);
            }
        }
        Shape::Area { points, fill } => {
            if let Some(path) = polygon(points, true) {
                filled(pixels, &path, *fill, zoom);
            }
        }
        Shape::Line {
            points,
            color,
            width,
            stroke,
        } => {
            let lengths = stroke.lengths();
            let stroke = Stroke {
                width: *width as f32,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                dash: lengths.and_then(|(mark, gap)| StrokeDash::new(vec![mark, gap], 0.0)),
                ..Stroke::default()
            };
            if let Some(path) = polygon(points, false) {
                pixels.stroke_path(&path, &ink(*color), &stroke, zoom, None);
            }
        }
        Shape::Dot {
            x,
            y,
            radius,
            color,
            hollow,
        } => {
            if let Some(path) = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32) {
                let inside = if *hollow { WHITE } else { *color };
                pixels.fill_path(&path, &ink(inside), FillRule::Winding, zoom, None);
                let rim = Stroke {
                    width: 1.6,
                    ..Stroke::default()
                };
                pixels.stroke_path(&path, &ink(*color), &rim, zoom, None);
            }
        }
        Shape::Text {
            x,
            y,
            size,
            text,
            anchor,
            color,
            turned,
        } => {
            let width = text_width(text, *size);
            let back = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => width / 2.0,
                Anchor::End => width,
            };
            let mut place = zoom.pre_translate(*x as f32, *y as f32);
            if *turned {
                place = place.pre_rotate(-90.0);
            }
            if let Some(path) = letters(face, text, *size) {
                let place = place.pre_translate(-back as f32, 0.0);
                pixels.fill_path(&path, &ink(*color), FillRule::Winding, place, None);
            }
        }
    }
}

/// Fills a path with a colour and the marks of its texture.
fn filled(pixels: &mut Pixmap, path: &Path, fill: Fill, zoom: Transform) {
    pixels.fill_path(path, &ink(fill.color), FillRule::Winding, zoom, None);
    let Some(tile) = tile(fill, zoom.sx) else {
        return;
    };
    let back = Transform::from_scale(1.0 / zoom.sx, 1.0 / zoom.sy);
    let paint = Paint {
        shader: Pattern::new(
            tile.as_ref(),
            SpreadMode::Repeat,
            FilterQuality::Nearest,
            1.0,
            back,
        ),
        ..Paint::default()
    };
    pixels.fill_path(path, &paint, FillRule::Winding, zoom, None);
}

/// The marks of a texture on a square that repeats.
fn tile(fill: Fill, zoom: f32) -> Option<Pixmap> {
    const SIDE: f32 = 6.0;
    let pixels = (SIDE * zoom).round().clamp(4.0, 200.0);
    let mut tile = Pixmap::new(pixels as u32, pixels as u32)?;
    let scale = Transform::from_scale(pixels / SIDE, pixels / SIDE);
    let mut path = PathBuilder::new();
    let mut stroke = |from: (f32, f32), to: (f32, f32)| {
        path.move_to(from.0, from.1);
        path.line_to(to.0, to.1);
    };
    let width = match fill.texture {
        Texture::None => return None,
        Texture::Diagonal => {
            for shift in [-SIDE, 0.0, SIDE] {
                stroke((shift - 1.0, 7.0), (shift + 7.0, -1.0));
            }
            1.4
        }
        Texture::Cross => {
            stroke((0.0, 0.0), (SIDE, SIDE));
            stroke((SIDE, 0.0), (0.0, SIDE));
            1.0
        }
        Texture::Lines => {
            stroke((0.0, 0.6), (SIDE, 0.6));
            stroke((0.0, 3.6), (SIDE, 3.6));
            1.2
        }
        Texture::Dots => {
            stroke((0.6, 1.5), (2.4, 1.5));
            stroke((3.6, 4.5), (5.4, 4.5));
            1.8
        }
    };
    let width = Stroke {
        width,
        ..Stroke::default()
    };
    tile.stroke_path(&path.finish()?, &ink(fill.marks), &width, scale, None);
    Some(tile)
}

/// The outlines of a line of text that begins at 0, 0.
fn letters(face: &Face, text: &str, size: f64) -> Option<Path> {
    let scale = size as f32 / f32::from(face.units_per_em());
    let mut outline = Outline {
        path: PathBuilder::new(),
        scale,
        x: 0.0,
    };
    for c in text.chars() {
        let glyph = face.glyph_index(c).unwrap_or_default();
        // A space has no outline.
        let _ = face.outline_glyph(glyph, &mut outline);
        outline.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
    }
    outline.path.finish()
}

struct Outline {
    path: PathBuilder,
    scale: f32,
    x: f32,
}

impl Outline {
    /// In fonts, y grows upwards.
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
}
