//! A flame graph as a still figure, for papers and slides. The page draws the same: root on top,
//! most time first, code in the same colours and textures.

use std::collections::BTreeMap;

use workspan_analysis::FlameStack;

use super::fill::{Color, Fill, Texture};

/// The page's colours of code, in descending order of time (ui/src/colors.ts).
pub(crate) const CODE: [u32; 8] = [
    0xCC6677, 0x88CCEE, 0xDDCC77, 0x44AA99, 0x332288, 0x999933, 0x117733, 0x882255,
];
/// The page's textures of code. A colour has the next one in each round.
const TEXTURES: [Texture; 4] = [
    Texture::None,
    Texture::Diagonal,
    Texture::Dots,
    Texture::Lines,
];
/// The place in `TEXTURES` of each colour's texture in the first round: colours that are alike in
/// greyscale have different ones.
const FIRST_TEXTURES: [usize; 8] = [0, 0, 2, 1, 3, 2, 1, 2];
/// The colour of code beyond the last round.
pub(crate) const OTHER: Color = Color(0xC3C7CD);
/// The share of its code's colour that a caller has. The rest is white.
const TINT: f64 = 0.45;

/// A flame graph to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct FlameFigure {
    pub(super) title: String,
    pub(super) subtitle: String,
    /// The time of all stacks, in nanoseconds.
    pub(super) total: u64,
    pub(super) frames: Vec<Frame>,
    /// Code with time of its own, in descending order of it: name, look, nanoseconds.
    pub(super) code: Vec<(String, Fill, u64)>,
    /// Number of rows; more may be cut off.
    pub(super) rows: usize,
}

/// A frame at its place: `from` and `ns` are in nanoseconds from the left edge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    pub name: String,
    pub row: usize,
    pub from: u64,
    pub ns: u64,
    pub fill: Fill,
}

/// Maximum number of rows: more fit on no page.
const MAX_ROWS: usize = 200;

/// Lays out the stacks. `title` says what is shown, `subtitle` names the run.
pub(crate) fn flame_figure(stacks: &[FlameStack], title: &str, subtitle: &str) -> FlameFigure {
    let stacks: Vec<&FlameStack> = stacks
        .iter()
        .filter(|stack| stack.ns > 0 && !stack.frames.is_empty())
        .collect();
    let code = ranked(stacks.iter().copied());
    let rank: BTreeMap<&str, usize> = (0..)
        .zip(&code)
        .map(|(rank, (name, _))| (*name, rank))
        .collect();
    let mut figure = FlameFigure {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        total: stacks.iter().map(|stack| stack.ns).sum(),
        frames: Vec::new(),
        code: (0..)
            .zip(&code)
            .map(|(rank, &(name, ns))| (name.to_owned(), look(rank), ns))
            .collect(),
        rows: 0,
    };
    let mut open: Vec<(usize, u64, Vec<&FlameStack>)> = vec![(0, 0, stacks)];
    while let Some((row, from, stacks)) = open.pop() {
        let mut below: BTreeMap<&str, Vec<&FlameStack>> = BTreeMap::new();
        for stack in stacks {
            if let Some(frame) = stack.frames.get(row) {
                below.entry(frame).or_default().push(stack);
            }
        }
        let time = |stacks: &[&FlameStack]| stacks.iter().map(|stack| stack.ns).sum::<u64>();
        let mut below: Vec<(&str, Vec<&FlameStack>)> = below.into_iter().collect();
        below.sort_by_key(|(_, stacks)| std::cmp::Reverse(time(stacks)));
        let mut from = from;
        for (name, stacks) in below {
            let ns = time(&stacks);
            figure.frames.push(Frame {
                name: name.to_owned(),
                row,
                from,
                ns,
                fill: fill(name, row, &stacks, &rank),
            });
            figure.rows = figure.rows.max(row + 1);
            if row + 1 < MAX_ROWS {
                open.push((row + 1, from, stacks));
            }
            from += ns;
        }
    }
    figure.frames.sort_by_key(|frame| (frame.row, frame.from));
    figure
}

/// Code by time of its own, in descending order.
pub(crate) fn ranked<'a>(stacks: impl IntoIterator<Item = &'a FlameStack>) -> Vec<(&'a str, u64)> {
    let mut own: BTreeMap<&str, u64> = BTreeMap::new();
    for stack in stacks {
        if let Some(leaf) = stack.frames.last() {
            *own.entry(leaf).or_default() += stack.ns;
        }
    }
    let mut ranked: Vec<(&str, u64)> = own.into_iter().collect();
    ranked.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    ranked
}

fn look(rank: usize) -> Fill {
    let (round, at) = (rank / CODE.len(), rank % CODE.len());
    if round >= TEXTURES.len() {
        return Fill::plain(OTHER);
    }
    let color = Color(CODE[at]);
    Fill {
        color,
        texture: TEXTURES[(FIRST_TEXTURES[at] + round) % TEXTURES.len()],
        marks: tint(color),
    }
}

/// The look of a frame: that of its code if it has time of its own, otherwise a tint of the code
/// with most of its time.
fn fill(name: &str, row: usize, stacks: &[&FlameStack], rank: &BTreeMap<&str, usize>) -> Fill {
    let is_code = stacks.iter().any(|stack| stack.frames.len() == row + 1);
    if let Some(&rank) = rank.get(name).filter(|_| is_code) {
        return look(rank);
    }
    let mut within: BTreeMap<usize, u64> = BTreeMap::new();
    for stack in stacks {
        if let Some(rank) = stack.frames.last().and_then(|leaf| rank.get(leaf.as_str())) {
            *within.entry(*rank).or_default() += stack.ns;
        }
    }
    let most = within
        .into_iter()
        .max_by_key(|&(rank, ns)| (ns, std::cmp::Reverse(rank)));
    Fill::plain(most.map_or(OTHER, |(rank, _)| tint(look(rank).color)))
}

/// A weaker colour, for callers.
pub(crate) fn tint(Color(color): Color) -> Color {
    let [_, red, green, blue] = color.to_be_bytes();
    let mix = |v: u8| (f64::from(v) * TINT + 255.0 * (1.0 - TINT)) as u8;
    Color(u32::from_be_bytes([0, mix(red), mix(green), mix(blue)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Page, flame_svg};

    fn stack(frames: &[&str], ns: u64) -> FlameStack {
        FlameStack {
            frames: frames.iter().map(|f| (*f).to_owned()).collect(),
            ns,
        }
    }

    #[test]
    fn frames_are_as_wide_as_their_time_and_most_time_comes_first() {
        let figure = flame_figure(
            &[
                stack(&["root", "fill"], 1),
                stack(&["root", "sort", "merge"], 6),
                stack(&["root", "sort"], 2),
            ],
            "t",
            "s",
        );
        let at: Vec<(&str, usize, u64, u64)> = figure
            .frames
            .iter()
            .map(|f| (f.name.as_str(), f.row, f.from, f.ns))
            .collect();
        let expected = [
            ("root", 0, 0, 9),
            ("sort", 1, 0, 8),
            ("fill", 1, 8, 1),
            ("merge", 2, 0, 6),
        ];
        assert_eq!(at, expected);
        assert_eq!((figure.total, figure.rows), (9, 3));
        // `sort` has time of its own and its colour; `root` has none, and a tint of merge's.
        let fill = |name: &str| figure.frames.iter().find(|f| f.name == name).unwrap().fill;
        assert_eq!(fill("merge").color, Color(CODE[0]));
        assert_eq!(fill("sort").color, Color(CODE[1]));
        assert_eq!(fill("root").color, tint(Color(CODE[0])));
    }

    #[test]
    fn the_first_eight_codes_differ_in_greyscale() {
        for (first, second) in (0..CODE.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let (first, second) = (look(first), look(second));
            let (a, b) = (first.color.luminance(), second.color.luminance());
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            let alike = first.texture == second.texture && contrast < 1.5;
            assert!(!alike, "{:x?} and {:x?}", first.color, second.color);
        }
    }

    #[test]
    fn the_ninth_code_has_a_texture() {
        let names: Vec<String> = (0..9).map(|i| format!("f{i}")).collect();
        let stacks: Vec<FlameStack> = (0..)
            .zip(&names)
            .map(|(i, name)| stack(&["root", name], 100 - i))
            .collect();
        let figure = flame_figure(&stacks, "t", "s");
        let last = figure.frames.iter().find(|f| f.name == "f8").unwrap().fill;
        assert_eq!(
            (last.color, last.texture),
            (Color(CODE[0]), Texture::Diagonal)
        );
        // A column has room for a legend and for all rows; letters are escaped.
        let text = flame_svg(&flame_figure(&stacks, "a<b", "s"), &Page::COLUMN);
        assert!(
            text.contains("a&lt;b") && text.contains("pattern id=\"diagonal-cc6677"),
            "{text}"
        );
    }

    #[test]
    fn deep_stacks_are_cut_with_words() {
        let frames: Vec<String> = (0..5000).map(|i| format!("level{i}")).collect();
        let deep = FlameStack { frames, ns: 5 };
        let figure = flame_figure(&[deep], "t", "s");
        assert_eq!(figure.rows, MAX_ROWS);
        let text = flame_svg(&figure, &Page::with_size(640.0, 400.0));
        assert!(text.contains("deeper levels"), "{text}");
    }
}
