//! Compares real answers with the types of `ui/src/data/contract/`: every key and every type.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use workspan_view::session::Settings;
use workspan_view::{Session, answer};

/// A TypeScript type, limited to the forms that the contract uses.
#[derive(Debug, Clone)]
enum Type {
    Object(Vec<Field>),
    Array(Box<Type>),
    Tuple(Vec<Type>),
    Union(Vec<Type>),
    Record(Box<Type>),
    /// A literal string or number.
    Literal(Value),
    /// `string`, `number`, `boolean`, `null`, `any`, or the name of another type.
    Name(String),
}

#[derive(Debug, Clone)]
struct Field {
    name: String,
    optional: bool,
    of: Type,
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
}

impl Parser {
    fn new(text: &str) -> Parser {
        let mut code = String::new();
        let mut rest = text;
        while let Some((before, comment)) = rest.split_once("/*") {
            code.push_str(before);
            rest = comment.split_once("*/").unwrap().1;
        }
        code.push_str(rest);
        let mut tokens: Vec<String> = Vec::new();
        let mut chars = code.chars().peekable();
        while let Some(c) = chars.next() {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            if word(c) {
                let mut token = String::from(c);
                while let Some(c) = chars.next_if(|&c| word(c)) {
                    token.push(c);
                }
                tokens.push(token);
            } else if c == '"' {
                let text: String = chars.by_ref().take_while(|&c| c != '"').collect();
                tokens.push(format!("\"{text}\""));
            } else if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
        }
        Parser { tokens, at: 0 }
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        self.at += 1;
        self.tokens[self.at - 1].clone()
    }

    fn takes(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) {
        let found = self.next();
        assert_eq!(found, token, "token {} of the contract", self.at);
    }

    /// All exported types, by name.
    fn types(mut self) -> BTreeMap<String, Type> {
        let mut types = BTreeMap::new();
        while self.at < self.tokens.len() {
            match self.next().as_str() {
                "interface" => {
                    let name = self.next();
                    let of = self.of();
                    types.insert(name, of);
                }
                "type" => {
                    let name = self.next();
                    self.expect("=");
                    let of = self.of();
                    types.insert(name, of);
                }
                _ => {}
            }
        }
        types
    }

    fn of(&mut self) -> Type {
        self.takes("|");
        let mut all = vec![self.item()];
        while self.takes("|") {
            all.push(self.item());
        }
        match all.len() {
            1 => all.remove(0),
            _ => Type::Union(all),
        }
    }

    fn list(&mut self, end: &str) -> Vec<Type> {
        let mut all = Vec::new();
        while !self.takes(end) {
            all.push(self.of());
            self.takes(",");
        }
        all
    }

    fn item(&mut self) -> Type {
        let token = self.next();
        let mut of = match token.as_str() {
            "{" => {
                let mut fields = Vec::new();
                while !self.takes("}") {
                    let name = self.next();
                    let optional = self.takes("?");
                    self.expect(":");
                    let of = self.of();
                    self.takes(";");
                    fields.push(Field { name, optional, of });
                }
                Type::Object(fields)
            }
            "[" => Type::Tuple(self.list("]")),
            "(" => self.list(")").remove(0),
            "Record" => {
                self.expect("<");
                Type::Record(Box::new(self.list(">").remove(1)))
            }
            text if text.starts_with('"') => Type::Literal(text.trim_matches('"').into()),
            text if text.starts_with(|c: char| c.is_ascii_digit()) => {
                Type::Literal(text.parse::<u64>().unwrap().into())
            }
            name => Type::Name(name.to_owned()),
        };
        while self.peek() == "[" && self.tokens[self.at + 1] == "]" {
            self.at += 2;
            of = Type::Array(Box::new(of));
        }
        of
    }
}

/// Reports where and why `value` is not of type `of`.
fn check(
    types: &BTreeMap<String, Type>,
    of: &Type,
    value: &Value,
    path: &str,
) -> Result<(), String> {
    let wrong = |expected: &str| Err(format!("{path}: not {expected}: {value:.80}"));
    let each = |of: &Type, list: &[Value]| {
        let mut all = list.iter().enumerate();
        all.try_for_each(|(i, v)| check(types, of, v, &format!("{path}[{i}]")))
    };
    match of {
        Type::Name(name) => match (name.as_str(), value) {
            ("any", _)
            | ("string", Value::String(_))
            | ("number", Value::Number(_))
            | ("boolean", Value::Bool(_))
            | ("null", Value::Null) => Ok(()),
            ("string" | "number" | "boolean" | "null", _) => wrong(name),
            ("RunId", value) => check(types, &Type::Name("string".into()), value, path),
            (name, _) => check(
                types,
                types.get(name).ok_or(format!("{name}?"))?,
                value,
                path,
            ),
        },
        Type::Literal(expected) if expected == value => Ok(()),
        Type::Literal(expected) => wrong(&expected.to_string()),
        Type::Union(all) => {
            let tried = all.iter().map(|of| check(types, of, value, path));
            let mut failures = Vec::new();
            for tried in tried {
                match tried {
                    Ok(()) => return Ok(()),
                    Err(why) => failures.push(why),
                }
            }
            // The alternative that matched furthest has the longest path.
            failures.sort_by_key(|why| why.find(": "));
            Err(failures.pop().unwrap())
        }
        Type::Array(of) => value
            .as_array()
            .map_or_else(|| wrong("an array"), |l| each(of, l)),
        Type::Tuple(all) => match value.as_array() {
            Some(list) if list.len() == all.len() => {
                let mut pairs = all.iter().zip(list);
                pairs.try_for_each(|(of, v)| check(types, of, v, path))
            }
            _ => wrong("a tuple"),
        },
        Type::Record(of) => {
            let Some(map) = value.as_object() else {
                return wrong("an object");
            };
            let mut all = map.iter();
            all.try_for_each(|(key, v)| check(types, of, v, &format!("{path}.{key}")))
        }
        Type::Object(fields) => {
            let Some(map) = value.as_object() else {
                return wrong("an object");
            };
            if let Some(key) = map
                .keys()
                .find(|key| fields.iter().all(|f| f.name != **key))
            {
                return Err(format!("{path}.{key}: not in the contract"));
            }
            for field in fields {
                let path = format!("{path}.{}", field.name);
                match map.get(&field.name) {
                    Some(value) => check(types, &field.of, value, &path)?,
                    None if field.optional => {}
                    None => return Err(format!("{path}: absent")),
                }
            }
            Ok(())
        }
    }
}

fn types() -> BTreeMap<String, Type> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/data/contract");
    let mut text = String::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let lines = file.lines().filter(|line| !line.starts_with("import "));
        lines.for_each(|line| text.extend([line, "\n"]));
    }
    let types = Parser::new(&text).types();
    assert!(types.len() > 30, "only {} types were found", types.len());
    types
}

/// The answer to `request`, after a check against the type `of`.
fn checked(session: &Session, request: &str, of: &str) -> Value {
    let reply = answer(session, &format!("api/v1/{request}"));
    let reply = reply.unwrap_or_else(|e| panic!("{request}: {e}"));
    let value = serde_json::from_slice(reply.bytes()).unwrap();
    let of = Parser::new(of).of();
    check(&types(), &of, &value, request).unwrap_or_else(|why| panic!("{why}"));
    value
}

const TWO_NODES: &str = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child","facts":[{"key":"CPUs of NUMA nodes","value":"0: 0-1,4; 1: 2-3"}],"on_cpus":[{"w":0,"cpu":4,"ns":10},{"w":0,"cpu":3,"ns":30}]}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"end","t":40,"w":0,"task":0}
"#;

#[test]
fn answers_are_of_the_types_of_the_contract() {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../export/tests/golden");
    let names = [
        "serial_merge",
        "buried",
        "hostile_names",
        "tiny_tasks",
        "one_task",
    ];
    let mut files: Vec<PathBuf> = names
        .iter()
        .map(|n| golden.join(format!("{n}.jsonl")))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let two_nodes = folder.path().join("two_nodes.jsonl");
    std::fs::write(&two_nodes, TWO_NODES).unwrap();
    files.push(two_nodes);
    let session = Session::new(&files, Settings::default()).unwrap();
    session.load();
    let meta = checked(&session, "meta", "Meta");
    let of_nodes = &meta["runs"].as_array().unwrap().last().unwrap();
    let expected = serde_json::json!([{"node": 0, "cpus": "0-1,4"}, {"node": 1, "cpus": "2-3"}]);
    assert_eq!(of_nodes["nodes"], expected);
    let thread = &of_nodes["threads"][0];
    assert_eq!(
        (&thread["node"], &thread["on_node"]),
        (&1.into(), &0.75.into())
    );
    checked(&session, "scalability", "Scalability");
    checked(&session, "queries", "Queries");
    checked(&session, "compare?a=a&b=b", "Compare");
    for run in meta["runs"].as_array().unwrap() {
        let id = run["id"].as_str().unwrap();
        let of_run = |name: &str, of: &str| checked(&session, &format!("{name}?run={id}"), of);
        of_run("report", "Report");
        of_run("summary", "Summary");
        of_run("critical", "CriticalPath");
        of_run("regions", "RegionSpan[]");
        let spawned = format!("spawned?run={id}&row=0&level=4&bin=0");
        checked(&session, &spawned, "Spawned");
        of_run("sites", "SiteExtras");
        for number in 0..run["sites"].as_array().unwrap().len() {
            let request = format!("tasks?run={id}&site={number}");
            checked(&session, &request, "TasksReport");
        }
        for of in ["all", "critical", "free"] {
            checked(&session, &format!("flame?run={id}&of={of}"), "Flame");
        }
        let query = "select%20strand,%20start%20from%20strands";
        checked(
            &session,
            &format!("sql?run={id}&query={query}"),
            "SqlAnswer",
        );
        checked(&session, &format!("dag?run={id}&ids=r,t0"), "DagAnswer");
        for number in 0..run["strands"].as_u64().unwrap().min(100) {
            checked(
                &session,
                &format!("strand?run={id}&id={number}"),
                "StrandDetail",
            );
            checked(&session, &format!("way?run={id}&id={number}"), "Way");
        }
        for number in 0..run["tasks"].as_u64().unwrap().min(100) {
            checked(
                &session,
                &format!("task?run={id}&id={number}"),
                "TaskDetail",
            );
            checked(
                &session,
                &format!("tasks?run={id}&task={number}"),
                "TasksReport",
            );
            checked(
                &session,
                &format!("ancestors?run={id}&task={number}"),
                "Ancestors",
            );
        }
        let files = run["sites"].as_array().unwrap().iter();
        let files = files.filter_map(|site| site["file"].as_str());
        for file in files.filter(|f| {
            f.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b))
        }) {
            checked(&session, &format!("source?run={id}&file={file}"), "Source");
        }
        let site = &run["sites"][0]["place"];
        let what_if = format!("whatif?run={id}&what=site:{site}&factors=2,4");
        checked(&session, &what_if, "WhatIf");
    }
}

#[test]
fn a_renamed_key_and_a_changed_type_are_found() {
    let types = Parser::new("export interface A { a: number[]; b?: \"x\" | null }").types();
    let of = |text: &str| {
        let value = serde_json::from_str(text).unwrap();
        check(&types, &Type::Name("A".into()), &value, "")
    };
    assert_eq!(of(r#"{"a": [1], "b": "x"}"#), Ok(()));
    assert_eq!(of(r#"{"a": []}"#), Ok(()));
    assert_eq!(
        of(r#"{"a": [], "c": 1}"#).unwrap_err(),
        ".c: not in the contract"
    );
    assert_eq!(of(r#"{"b": null}"#).unwrap_err(), ".a: absent");
    assert!(
        of(r#"{"a": ["1"]}"#)
            .unwrap_err()
            .starts_with(".a[0]: not number")
    );
    assert!(of(r#"{"a": [], "b": "y"}"#).is_err());
}
