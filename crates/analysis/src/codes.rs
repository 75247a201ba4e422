//! Names the code that each strand ran; the viewer colours and labels strands by it.
//!
//! A code block (site, where a strand starts, where it ends) is shown as the function with most of
//! its samples. Without usable samples it is the function that it starts in, together with the
//! place where it starts.

use std::collections::{BTreeMap, HashMap};

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, Frame, NONE, Place, PlaceId, ROOT_PLACE, StartKind, StrandId};

use crate::blocks::{BlockTable, CodeBlock};
use crate::runtime_samples::in_runtime;
use crate::sample_profile::{FrameCache, FunctionTally, HotFunction, attributed_frame, is_named};

/// Code that is shown as one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The text shown to people.
    pub label: String,
    /// Function, where one is known.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u32>,
    /// Sum of its strands' weights, in ticks.
    pub ticks: u64,
    /// The blocks that are shown as this code.
    pub blocks: Vec<CodeBlock>,
}

/// The codes of a run, in descending order of time, and the code of each strand.
#[derive(Debug)]
pub struct Codes {
    /// The codes by number.
    pub all: Vec<Code>,
    of: Vec<u16>,
}

/// Maximum number of distinct codes: more colours and labels than people can read.
const MAX_CODES: usize = 4096;

/// What distinguishes codes: function, file, and for blocks without samples where they start.
type Key = (Option<String>, Option<String>, Option<(PlaceId, bool)>);

impl Codes {
    /// Finds the codes; `weight` is the weight of each strand (MODEL.md §2). O(strands + samples).
    pub fn new(dag: &Dag, weight: impl Fn(StrandId) -> u64) -> Codes {
        let mut ticks: BlockTable<u64> = BlockTable::new();
        let mut block_of = Vec::with_capacity(dag.strands.len());
        for s in checked(0..dag.strands.len() as StrandId) {
            let block = ticks.number(CodeBlock::from_strand(dag, s));
            ticks.values[block] = ticks.values[block].saturating_add(weight(s));
            block_of.push(block as u32);
        }
        let blocks = &ticks.keys;
        let sampled = sampled(dag, &block_of, blocks.len());
        let mut codes: Vec<Code> = Vec::new();
        let mut keys: HashMap<Key, usize> = HashMap::new();
        let mut code_of = Vec::with_capacity(blocks.len());
        for ((block, &ticks), hot) in ticks.iter().zip(sampled) {
            let (key, code) = describe(dag, block, hot);
            let number = *keys.entry(key).or_insert_with(|| {
                codes.push(code);
                codes.len() - 1
            });
            let code = &mut codes[number];
            code.ticks = code.ticks.saturating_add(ticks);
            code.blocks.push(*block);
            code_of.push(number);
        }
        tell_apart(dag, &mut codes);
        let (all, places) = most_first(codes);
        let numbers = block_of
            .iter()
            .map(|&block| places[code_of[block as usize]]);
        Codes {
            of: numbers.collect(),
            all,
        }
    }

    /// The number of a strand's code.
    pub fn of(&self, s: StrandId) -> u16 {
        self.of[s as usize]
    }

    /// The number of a block's code.
    pub fn of_block(&self, block: &CodeBlock) -> Option<u16> {
        let found = self.all.iter().position(|code| code.blocks.contains(block));
        found.map(|number| number as u16)
    }
}

/// The function in which most samples of each block were taken; `None` for a block that ran mostly
/// in a library without symbols.
fn sampled(dag: &Dag, block_of: &[u32], blocks: usize) -> Vec<Option<HotFunction>> {
    let mut tallies = vec![FunctionTally::default(); blocks];
    // What a runtime calls says as little about a strand as the runtime's own functions.
    let in_runtime = in_runtime(&dag.samples);
    let telling = |stack: u32| {
        let frame = attributed_frame(dag, stack).filter(|frame| is_informative(frame));
        frame.filter(|_| !in_runtime[stack as usize])
    };
    let mut frames = FrameCache::new(telling);
    for (&stack, &strand) in dag.samples.stack.iter().zip(&dag.samples.strand) {
        if strand == NONE {
            continue;
        }
        tallies[block_of[strand as usize] as usize].add(frames.of(stack), None, false);
    }
    let hottest = tallies.into_iter().map(FunctionTally::hottest);
    hottest
        .map(|hot| hot.filter(|hot| is_named(&hot.function, hot.file.as_deref())))
        .collect()
}

/// Whether a frame shows people what ran. The runtime's entry points do not. Neither do small
/// functions of the standard library that the runtime and the recorder use (`as_ref`,
/// `atomic_load`, the clock): if the program calls them, the calling line counts.
fn is_informative(frame: &Frame) -> bool {
    let file = frame.file.as_deref().unwrap_or("");
    let standard = file.starts_with("/rustc/")
        || file.starts_with("library/")
        || file.contains("/rustlib/src/");
    !frame.runtime && !standard && frame.function != "?"
}

fn describe(dag: &Dag, block: &CodeBlock, hot: Option<HotFunction>) -> (Key, Code) {
    if let Some(hot) = hot {
        let key = (Some(hot.function.clone()), hot.file.clone(), None);
        let code = Code {
            label: short(&hot.function).to_owned(),
            function: Some(hot.function),
            file: hot.file,
            line: hot.line,
            ticks: 0,
            blocks: Vec::new(),
        };
        return (key, code);
    }
    let begins = block.from_kind == StartKind::Begin;
    // Code of the root after an unknown place is the root's.
    let known = (block.from as usize) < dag.places.len();
    let begins = begins || (!known && block.site == ROOT_PLACE);
    let at = if begins { block.site } else { block.from };
    let place = dag.places.get(at as usize);
    let function = place.and_then(|p| p.function.clone());
    let label = match place {
        _ if begins && block.site == ROOT_PLACE => "root".to_owned(),
        None if begins => "?".to_owned(),
        None => "after ?".to_owned(),
        Some(place) => named(place, begins),
    };
    let file = place.and_then(|p| p.file.clone());
    let key = (function.clone(), file.clone(), Some((at, begins)));
    let code = Code {
        label,
        function,
        file,
        line: place.and_then(|p| p.line),
        ticks: 0,
        blocks: Vec::new(),
    };
    (key, code)
}

/// `msort:37` for tasks created there, `after msort:37` for the code after that line.
fn named(place: &Place, begins: bool) -> String {
    let name = match (&place.function, place.line) {
        (Some(function), Some(line)) => format!("{}:{line}", short(function)),
        // The full name with all of its template arguments; the label has none.
        (Some(whole), None) if whole.contains(['<', '(']) => short(&place.label).to_owned(),
        (Some(function), None) => short(function).to_owned(),
        (None, _) => match (&place.file, place.line) {
            (Some(file), Some(line)) => {
                format!("{}:{line}", file.rsplit('/').next().unwrap_or(file))
            }
            _ => place.label.clone(),
        },
    };
    if begins {
        name
    } else {
        format!("after {name}")
    }
}

/// A function without the modules before it and without closure marks after it.
pub fn short(name: &str) -> &str {
    let mut name = name;
    while let Some(outer) = name.strip_suffix("::{{closure}}") {
        name = outer;
    }
    if name.contains(['<', '{', ' ', '(']) {
        return name;
    }
    name.rsplit("::").next().unwrap_or(name)
}

/// Makes the labels distinct. Codes with equal labels get their position or the function's full
/// name, then the construct, then a number.
fn tell_apart(dag: &Dag, codes: &mut [Code]) {
    lengthen(codes, |code, _| {
        match (&code.function, &code.file, code.line) {
            (_, Some(file), Some(line)) => Some(format!("{} ({file}:{line})", code.label)),
            (Some(function), _, _) if code.label.starts_with("after ") => {
                Some(format!("after {function}"))
            }
            (Some(function), _, _) => Some(function.clone()),
            (None, Some(file), None) => Some(format!("{} ({file})", code.label)),
            (None, None, _) => None,
        }
    });
    lengthen(codes, |code, _| {
        let block = code.blocks.first()?;
        let begins = block.from_kind == StartKind::Begin;
        let at = if begins { block.site } else { block.from };
        let construct = dag.places.get(at as usize)?.primitive.as_deref()?;
        Some(format!("{}, {construct}", code.label))
    });
    lengthen(codes, |code, nth| {
        (nth > 1).then(|| format!("{} #{nth}", code.label))
    });
}

/// Gives each code with a label that others have the label that `longer` returns for it, unless
/// that is the same for all of them. The number counts the codes of that label, from 1.
fn lengthen(codes: &mut [Code], longer: impl Fn(&Code, usize) -> Option<String>) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for code in codes.iter() {
        *counts.entry(code.label.clone()).or_default() += 1;
    }
    counts.retain(|_, count| *count > 1);
    // By label: the longer ones of its codes.
    let mut found: BTreeMap<String, Vec<(usize, Option<String>)>> = BTreeMap::new();
    for (i, code) in codes.iter().enumerate() {
        if counts.contains_key(&code.label) {
            let same = found.entry(code.label.clone()).or_default();
            let nth = same.len() + 1;
            same.push((i, longer(code, nth)));
        }
    }
    for same in found.into_values() {
        if same.iter().all(|(_, label)| *label == same[0].1) {
            continue;
        }
        for (i, label) in same {
            if let Some(label) = label {
                codes[i].label = label;
            }
        }
    }
}

/// Sorts codes by time, descending; those beyond [`MAX_CODES`] become one. Also returns the new
/// number of each.
fn most_first(codes: Vec<Code>) -> (Vec<Code>, Vec<u16>) {
    let mut order: Vec<usize> = (0..codes.len()).collect();
    order.sort_by(|&a, &b| {
        let (x, y) = (&codes[a], &codes[b]);
        (y.ticks, &x.label, &x.blocks).cmp(&(x.ticks, &y.label, &y.blocks))
    });
    let mut places = vec![0u16; codes.len()];
    for (to, &from) in order.iter().enumerate() {
        places[from] = to.min(MAX_CODES - 1) as u16;
    }
    let mut codes: Vec<Option<Code>> = codes.into_iter().map(Some).collect();
    let mut all: Vec<Code> = order.iter().filter_map(|&i| codes[i].take()).collect();
    if all.len() > MAX_CODES {
        let rest = all.split_off(MAX_CODES);
        let last = &mut all[MAX_CODES - 1];
        last.label = "other code".to_owned();
        (last.function, last.file, last.line) = (None, None, None);
        for code in rest {
            last.ticks = last.ticks.saturating_add(code.ticks);
            last.blocks.extend(code.blocks);
        }
    }
    (all, places)
}

#[cfg(test)]
mod tests {
    use workspan_dag::EndKind;

    use super::*;

    #[test]
    fn functions_are_called_by_their_last_name() {
        assert_eq!(short("sort::msort::{{closure}}"), "msort");
        assert_eq!(short("sort::msort::{{closure}}::{{closure}}"), "msort");
        assert_eq!(short("<a::B as c::D>::go"), "<a::B as c::D>::go");
        assert_eq!(short("main"), "main");
    }

    #[test]
    fn equals_get_their_whole_names_and_most_time_comes_first() {
        let code = |label: &str, line: u32, ticks: u64| Code {
            label: label.into(),
            function: None,
            file: Some("src/a.rs".into()),
            line: Some(line),
            ticks,
            blocks: Vec::new(),
        };
        let mut codes = vec![code("go", 1, 5), code("go", 9, 7), code("main", 3, 6)];
        tell_apart(&Dag::default(), &mut codes);
        let (all, places) = most_first(codes);
        let labels: Vec<&str> = all.iter().map(|c| c.label.as_str()).collect();
        assert_eq!(labels, ["go (src/a.rs:9)", "main", "go (src/a.rs:1)"]);
        assert_eq!(places, [2, 0, 1]);
    }

    /// A code of one block, from a place of this site.
    fn code_of(label: &str, function: Option<&str>, block: (PlaceId, PlaceId)) -> Code {
        Code {
            label: label.into(),
            function: function.map(Into::into),
            file: None,
            line: None,
            ticks: 0,
            blocks: vec![CodeBlock {
                site: block.0,
                from: block.1,
                from_kind: StartKind::AfterWait,
                to: NONE,
                to_kind: EndKind::End,
            }],
        }
    }

    /// A run with places of these primitives, after the root's.
    fn with_places(primitives: [&str; 2]) -> Dag {
        let places = primitives.map(|primitive| Place {
            primitive: Some(primitive.into()),
            ..Place::default()
        });
        Dag {
            places: [Place::default()].into_iter().chain(places).collect(),
            ..Dag::default()
        }
    }

    #[test]
    fn codes_without_positions_are_told_apart_by_function_construct_or_number() {
        let code = |label, function, from| code_of(label, function, (ROOT_PLACE, from));
        let dag = with_places(["task", "taskwait"]);
        let mut codes = vec![
            code("after go", Some("a::go"), NONE),
            code("after go", Some("b::go"), NONE),
            code("after run", None, 1),
            code("after run", None, 2),
            code("after run", None, 2),
        ];
        tell_apart(&dag, &mut codes);
        let labels: Vec<&str> = codes.iter().map(|c| c.label.as_str()).collect();
        let expected = [
            "after a::go",
            "after b::go",
            "after run, task",
            "after run, taskwait",
            "after run, taskwait #2",
        ];
        assert_eq!(labels, expected);
    }

    /// Two constructs of one line: the line's position does not tell them apart.
    #[test]
    fn what_equals_have_in_common_is_not_added() {
        let code = |site| {
            let mut code = code_of("main:26", Some("main"), (site, NONE));
            (code.file, code.line) = (Some("src/a.rs".into()), Some(26));
            code.blocks[0].from_kind = StartKind::Begin;
            code
        };
        let dag = with_places(["thread", "install"]);
        let mut codes = vec![code(1), code(2)];
        tell_apart(&dag, &mut codes);
        let labels: Vec<&str> = codes.iter().map(|c| c.label.as_str()).collect();
        assert_eq!(labels, ["main:26, thread", "main:26, install"]);
    }
}
