//! The keys of one line, read with type checks. Errors name line, task, key, the value found and
//! the expected one.

use std::borrow::Cow;

use super::value::{Quoted, Value};
use workspan_dag::Error;

/// The largest time: 2^63 − 1.
pub(super) const MAX_TIME: u64 = i64::MAX as u64;

/// A JSON object with its position.
pub(super) struct Line<'a> {
    fields: Vec<(Cow<'a, str>, Value<'a>)>,
    /// The line number, from 1.
    pub number: usize,
    /// The object's name in errors: the event, or `header`.
    pub name: String,
    /// The task that it is about, once known.
    pub task: Option<u64>,
}

impl<'a> Line<'a> {
    /// Parses one line.
    pub(super) fn parse(bytes: &'a [u8], number: usize) -> Result<Line<'a>, Error> {
        let fail = |what: String| Error::Text { line: number, what };
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Ok(Line {
                fields,
                number,
                name: "line".into(),
                task: None,
            }),
            Ok(other) => Err(fail(format!(
                "found {other}; expected a JSON object, one a line"
            ))),
            Err(e) => {
                let all = e.to_string();
                let what = all.split(" at line ").next().unwrap_or_default();
                Err(fail(format!(
                    "not JSON ({what}, column {}); expected one JSON object a line",
                    e.column()
                )))
            }
        }
    }

    /// Returns an error of the line.
    pub(super) fn fail<T>(&self, what: impl AsRef<str>) -> Result<T, Error> {
        Err(fault(self.number, self.task, what))
    }

    /// The value of a key; the last one if the key is repeated.
    pub(super) fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.fields.iter().rev().find(|f| f.0 == key).map(|f| &f.1)
    }

    /// The value of an optional key; null counts as absent.
    pub(super) fn given(&self, key: &str) -> Option<&Value<'a>> {
        self.get(key).filter(|v| **v != Value::Null)
    }

    fn wrong<T>(&self, key: &str, found: Option<&Value<'_>>, expected: &str) -> Result<T, Error> {
        match found {
            None => self.fail(format!(
                "`{}` lacks the key `{key}`; expected {expected}",
                self.name
            )),
            Some(found) => self.fail(format!("`{key}` is {found}; expected {expected}")),
        }
    }

    pub(super) fn whole(&self, key: &str) -> Result<u64, Error> {
        match self.get(key) {
            Some(&Value::Whole(n)) => Ok(n),
            found => self.wrong(key, found, "a whole number, not negative"),
        }
    }

    pub(super) fn whole_or(&self, key: &str, default: u64) -> Result<u64, Error> {
        if self.given(key).is_some() {
            self.whole(key)
        } else {
            Ok(default)
        }
    }

    pub(super) fn small(&self, key: &str) -> Result<u32, Error> {
        match self.get(key) {
            Some(&Value::Whole(n)) if n < u64::from(u32::MAX) => Ok(n as u32),
            found => self.wrong(key, found, "a whole number below 2^32 - 1"),
        }
    }

    /// The value of `key` as a time.
    pub(super) fn time(&self, key: &str) -> Result<u64, Error> {
        match self.get(key) {
            Some(&Value::Whole(n)) if n <= MAX_TIME => Ok(n),
            found => self.wrong(key, found, "a whole number from 0 to 2^63 - 1"),
        }
    }

    pub(super) fn text(&self, key: &str) -> Result<&str, Error> {
        match self.get(key) {
            Some(Value::Text(t)) => Ok(t),
            found => self.wrong(key, found, "a text"),
        }
    }

    pub(super) fn text_or_none(&self, key: &str) -> Result<Option<&str>, Error> {
        if self.given(key).is_some() {
            self.text(key).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The value of a key that has one of these words: the word's index.
    pub(super) fn word(&self, key: &str, words: &[&str]) -> Result<usize, Error> {
        let found = self.get(key);
        let index = match found {
            Some(Value::Text(t)) => words.iter().position(|w| w == t),
            _ => None,
        };
        match index {
            Some(i) => Ok(i),
            None => {
                let all: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
                self.wrong(key, found, &all.join(" or "))
            }
        }
    }

    /// A flag; false if absent.
    pub(super) fn flag(&self, key: &str) -> Result<bool, Error> {
        match self.given(key) {
            None => Ok(false),
            Some(&Value::Flag(b)) => Ok(b),
            found => self.wrong(key, found, "true or false"),
        }
    }

    /// A number that is not negative.
    pub(super) fn number(&self, key: &str) -> Result<f64, Error> {
        match self.get(key) {
            Some(&Value::Whole(n)) => Ok(n as f64),
            Some(&Value::Number(n)) if n >= 0.0 => Ok(n),
            found => self.wrong(key, found, "a number, not negative"),
        }
    }

    pub(super) fn list(&self, key: &str) -> Result<&[Value<'a>], Error> {
        match self.get(key) {
            Some(Value::List(list)) => Ok(list),
            found => self.wrong(key, found, "a list"),
        }
    }

    pub(super) fn wholes(&self, key: &str) -> Result<Vec<u64>, Error> {
        let found = self.get(key);
        let Some(Value::List(list)) = found else {
            return self.wrong(key, found, "a list of whole numbers");
        };
        let whole = |v: &Value<'_>| match v {
            Value::Whole(n) => Ok::<u64, Error>(*n),
            other => self.fail(format!(
                "`{key}` holds {other}; expected a list of whole numbers"
            )),
        };
        list.iter().map(whole).collect()
    }

    /// An object with whole numbers; empty if absent.
    pub(super) fn whole_map(&self, key: &str) -> Result<Vec<(&str, u64)>, Error> {
        let fields = match self.given(key) {
            None => return Ok(Vec::new()),
            Some(Value::Object(fields)) => fields,
            found => return self.wrong(key, found, "an object of whole numbers"),
        };
        let mut out: Vec<(&str, u64)> = Vec::new();
        for (name, value) in fields {
            match value {
                Value::Whole(n) => out.push((name, *n)),
                other => {
                    return self.fail(format!(
                        "`{key}` has {}: {other}; expected whole numbers, not negative",
                        Quoted(name)
                    ));
                }
            }
        }
        out.sort_by_key(|f| f.0);
        if let Some(twice) = out.windows(2).find(|w| w[0].0 == w[1].0) {
            return self.fail(format!(
                "`{key}` has {} twice; expected it once",
                Quoted(twice[0].0)
            ));
        }
        Ok(out)
    }

    /// An object inside this line, with its own keys.
    pub(super) fn inner(&self, value: &Value<'a>, name: &str) -> Result<Line<'a>, Error> {
        match value {
            Value::Object(fields) => Ok(Line {
                fields: fields.clone(),
                number: self.number,
                name: name.into(),
                task: self.task,
            }),
            other => self.fail(format!("`{name}` holds {other}; expected objects")),
        }
    }
}

/// An error of a line, about a task.
pub(super) fn fault(line: usize, task: Option<u64>, what: impl AsRef<str>) -> Error {
    let what = what.as_ref();
    let what = match task {
        Some(task) => format!("task {task}: {what}"),
        None => what.to_owned(),
    };
    Error::Text { line, what }
}
