//! Damage to a text trace, line by line and field by field.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::damage::number;

type At = prop::sample::Index;

/// A kind of damage to the lines.
#[derive(Debug, Clone)]
pub enum LineDamage {
    /// A field's number becomes another one; in a list, the first number does.
    Number(At, At, u64),
    /// A field has another one's value: a task is its own parent, or its own predecessor.
    Copied(At, At, At),
    /// A field has a value of another type.
    Sort(At, At, u8),
    /// A field is missing.
    NoField(At, At),
    Lost(At),
    Twice(At),
    Swapped(At, At),
}

/// Any damage.
pub fn line_damage() -> impl Strategy<Value = LineDamage> {
    let at = any::<At>;
    prop_oneof![
        5 => (at(), at(), number()).prop_map(|(a, b, n)| LineDamage::Number(a, b, n)),
        4 => (at(), at(), at()).prop_map(|(a, b, c)| LineDamage::Copied(a, b, c)),
        2 => (at(), at(), 0..6u8).prop_map(|(a, b, c)| LineDamage::Sort(a, b, c)),
        1 => (at(), at()).prop_map(|(a, b)| LineDamage::NoField(a, b)),
        1 => at().prop_map(LineDamage::Lost),
        1 => at().prop_map(LineDamage::Twice),
        2 => (at(), at()).prop_map(|(a, b)| LineDamage::Swapped(a, b)),
    ]
}

/// The lines of a text trace.
pub fn of(text: &[u8]) -> Vec<Map<String, Value>> {
    let lines = text.split(|&b| b == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// The text of the lines.
pub fn joined(lines: &[Map<String, Value>]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line).unwrap();
        text.push(b'\n');
    }
    text
}

fn field<'a>(lines: &'a mut [Map<String, Value>], line: &At, field: &At) -> Option<&'a mut Value> {
    let line = &mut lines[line.index(lines.len())];
    let at = field.index(line.len().max(1));
    line.values_mut().nth(at)
}

impl LineDamage {
    /// Applies the damage.
    pub fn to(&self, lines: &mut Vec<Map<String, Value>>) {
        if lines.is_empty() {
            return;
        }
        let count = lines.len();
        match self {
            LineDamage::Number(line, at, value) => match field(lines, line, at) {
                Some(Value::Array(list)) => {
                    if let Some(first) = list.first_mut() {
                        *first = Value::from(*value);
                    }
                }
                Some(found) if found.is_number() => *found = Value::from(*value),
                _ => {}
            },
            LineDamage::Copied(line, from, to) => {
                let Some(copied) = field(lines, line, from).cloned() else {
                    return;
                };
                if let Some(found) = field(lines, line, to) {
                    *found = match found {
                        Value::Array(_) => Value::Array(vec![copied]),
                        _ => copied,
                    };
                }
            }
            LineDamage::Sort(line, at, sort) => {
                if let Some(found) = field(lines, line, at) {
                    *found = match sort {
                        0 => Value::Null,
                        1 => Value::from(-1),
                        2 => Value::from("\u{202e}<script>\u{1b}[2J"),
                        3 => Value::from(1e300),
                        4 => Value::Array(vec![Value::Null; 3]),
                        _ => Value::Object(Map::new()),
                    };
                }
            }
            LineDamage::NoField(line, at) => {
                let line = &mut lines[line.index(count)];
                let name = line.keys().nth(at.index(line.len().max(1))).cloned();
                if let Some(name) = name {
                    line.remove(&name);
                }
            }
            LineDamage::Lost(line) => {
                lines.remove(line.index(count));
            }
            LineDamage::Twice(line) => {
                let again = lines[line.index(count)].clone();
                lines.insert(line.index(count), again);
            }
            LineDamage::Swapped(one, other) => lines.swap(one.index(count), other.index(count)),
        }
    }
}
