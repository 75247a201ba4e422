//! The DAG inside strands that were folded while a trace was read is the same as that of the
//! unfolded run, node by node.

use serde_json::Value;
use workspan_reader::open::Grain;
use workspan_view::{Session, answer};

use crate::folding::{json, session, session_of};

/// The fully expanded DAG of a run: strands and tasks in program order, each with its depth and its
/// facts.
struct Opened<'a> {
    session: &'a Session,
    meta: Value,
    lines: Vec<String>,
    /// Number of strands seen inside folded ones, and maximum number of items in an answer.
    inner: usize,
    most: usize,
}

impl<'a> Opened<'a> {
    fn new(session: &'a Session) -> Opened<'a> {
        let mut opened = Opened {
            session,
            meta: json(session, "meta"),
            lines: Vec::new(),
            inner: 0,
            most: 0,
        };
        opened.open("r", 0, None);
        opened
    }

    fn site(&self, item: &Value) -> String {
        let site = item["site"].as_u64().unwrap() as usize;
        let label = &self.meta["runs"][0]["sites"][site]["label"];
        label.as_str().unwrap_or("?").to_owned()
    }

    /// Records what is inside node `id`; `folded` is the node's strand if it is a folded one.
    fn open(&mut self, id: &str, depth: usize, folded: Option<&Value>) {
        let answer = json(self.session, &format!("dag?run=a&ids={id}"));
        let items = answer["nodes"][id]["items"].as_array().unwrap().clone();
        self.most = self.most.max(items.len());
        let strands = || items.iter().filter(|i| i["kind"] == "strand");
        let last = strands().next_back().map(|s| s["inner"].clone());
        for (at, item) in items.iter().enumerate() {
            let count = |key: &str| item[key].as_array().unwrap().len();
            match item["kind"].as_str().unwrap() {
                "strand" if item["inside"].is_object() => {
                    assert_eq!(item["folded"], item["inside"]["tasks"]);
                    let from = self.lines.len();
                    self.open(&format!("s{}", item["id"]), depth, Some(item));
                    let inner: Vec<&String> = self.lines[from..].iter().collect();
                    assert!(inner.len() > 2, "nothing is inside of {item}");
                }
                "strand" => {
                    self.inner += usize::from(item["inner"].is_u64());
                    // The first and the last strand inside have the folded strand's facts at its
                    // ends.
                    let outer = |key: &str, here: bool| match folded {
                        Some(folded) if here => folded[key].as_array().unwrap().len(),
                        _ => 0,
                    };
                    let is_last = last == Some(item["inner"].clone());
                    let creates = count("creates") + outer("creates", is_last);
                    let joins = count("joins") + outer("joins", at == 0);
                    self.lines.push(format!(
                        "{depth} strand {} {} {} {} creates {creates} joins {joins} {} {} {} {}",
                        item["start"],
                        item["end"],
                        item["weight"],
                        self.site(item),
                        item["end_kind"],
                        item["critical"],
                        item["ready_path"],
                        item["ready"],
                    ));
                }
                kind => {
                    self.lines.push(format!(
                        "{depth} {kind} {} {} {} tasks {} strands {} work {} span {} {} {} {} {}",
                        item["start"],
                        item["end"],
                        self.site(item),
                        item["tasks"],
                        item["strands"],
                        item["work"],
                        item["span"],
                        item["critical"],
                        item["critical_work"],
                        item["ready"],
                        item["rows"],
                    ));
                    let id = item["id"].as_str().unwrap().to_owned();
                    if item["expandable"] == true {
                        self.open(&id, depth + 1, None);
                    } else {
                        let inside = json(self.session, &format!("dag?run=a&ids={id}"));
                        assert_eq!(inside["nodes"][&id]["items"].as_array().unwrap().len(), 1);
                    }
                }
            }
        }
    }
}

#[test]
fn opened_folded_strands_are_the_unfolded_dag() {
    let folder = tempfile::tempdir().unwrap();
    let whole = session(&folder, Grain::None);
    let folded = session(&folder, Grain::Nanoseconds(2000));
    let (all, opened) = (Opened::new(&whole), Opened::new(&folded));
    assert_eq!(all.inner, 0);
    assert!(opened.inner > 1000, "{} strands inside", opened.inner);
    assert!(all.lines.len() > 1000);
    assert!(opened.most <= 200);
    for (a, b) in all.lines.iter().zip(&opened.lines) {
        assert_eq!(a, b);
    }
    assert_eq!(all.lines.len(), opened.lines.len());
}

#[test]
fn the_way_to_a_strand_inside_ends_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folded = session(&folder, Grain::Nanoseconds(2000));
    let mut found = 0;
    let elapsed = json(&folded, "meta")["runs"][0]["elapsed"]
        .as_u64()
        .unwrap();
    let strands = json(&folded, "meta")["runs"][0]["strands"]
        .as_u64()
        .unwrap();
    for id in 0..strands {
        let strand = json(&folded, &format!("strand?run=a&id={id}"));
        if strand["folded"] == 0 {
            continue;
        }
        let (start, end) = (
            strand["start"].as_u64().unwrap(),
            strand["end"].as_u64().unwrap(),
        );
        let at = start + (end - start) * 2 / 3;
        assert!(at < elapsed);
        let way = json(&folded, &format!("way?run=a&id={id}&at={at}"));
        let open = way["open"].as_array().unwrap();
        let ids: Vec<&str> = open.iter().map(|id| id.as_str().unwrap()).collect();
        // Each node is an item of the one before, and the strand is an item of the last one.
        for pair in ids.windows(2) {
            let inside = json(&folded, &format!("dag?run=a&ids={}", pair[0]));
            let items = inside["nodes"][pair[0]]["items"]
                .as_array()
                .unwrap()
                .clone();
            let here = items.iter().any(|item| {
                item["id"] == pair[1]
                    || (item["kind"] == "strand" && format!("s{}", item["id"]) == pair[1])
            });
            assert!(here, "{} is not inside of {}", pair[1], pair[0]);
        }
        let last = ids.last().unwrap();
        let inside = json(&folded, &format!("dag?run=a&ids={last}"));
        let items = inside["nodes"][*last]["items"].as_array().unwrap().clone();
        let item = items
            .iter()
            .find(|i| i["kind"] == "strand" && i["inner"] == way["inner"]);
        let item = item.unwrap();
        assert!(item["start"].as_u64().unwrap() <= at && at < item["end"].as_u64().unwrap());
        // The details in the drawer agree.
        let told = json(&folded, &format!("inside_strand?run=a&id={id}&at={at}"));
        for fact in ["start", "end", "site", "code"] {
            assert_eq!(told[fact], item[fact], "{fact}");
        }
        if let Some(task) = ids.iter().rfind(|id| id.contains('.')) {
            let told = json(&folded, &format!("inside_task?run=a&id={task}"));
            assert_eq!(told["strand"].as_u64(), Some(id));
            assert!(told["all"]["work"].as_u64().unwrap() >= item["weight"].as_u64().unwrap());
            found += 1;
        }
    }
    assert!(found > 5, "{found}");
}

#[test]
fn nodes_inside_that_do_not_exist_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = session(&folder, Grain::None);
    let folded = session(&folder, Grain::Nanoseconds(2000));
    let strands = json(&folded, "meta")["runs"][0]["strands"]
        .as_u64()
        .unwrap();
    let is_folded = |id: &u64| json(&folded, &format!("strand?run=a&id={id}"))["folded"] != 0;
    let some = (0..strands).find(is_folded).unwrap();
    let there = format!("api/v1/dag?run=a&ids=s{some}");
    assert!(answer(&folded, &there).is_ok());
    for id in [
        format!("s{some}.4294967295"),
        format!("s{some}.1.0.99999"),
        format!("s{some}.1.5.5"),
        format!("s{some}.1.7.5"),
        format!("s{some}.1.2"),
        format!("s{some}.1.2.3.4"),
        format!("s{some}."),
        "s4294967295".into(),
        "s99999999999999999999".into(),
        "s".into(),
        "s-1".into(),
    ] {
        assert!(
            answer(&folded, &format!("api/v1/dag?run=a&ids={id}")).is_err(),
            "{id}"
        );
        assert!(
            answer(&folded, &format!("api/v1/inside_task?run=a&id={id}")).is_err()
                || id.contains(".1."),
            "{id}"
        );
    }
    for id in 0..4 {
        assert!(
            answer(&whole, &format!("api/v1/dag?run=a&ids=s{id}")).is_err(),
            "{id}"
        );
    }
    for url in [
        "way?run=a&id=4294967295",
        "way?run=a&id=0&at=x",
        "way?run=a&id=0&at=18446744073709551615",
    ] {
        assert!(answer(&folded, &format!("api/v1/{url}")).is_err(), "{url}");
    }
}

/// The memory for expanded strands is bounded, however many of them are opened.
#[test]
fn browsing_keeps_little() {
    const MAX_CACHED_BYTES: usize = 20 << 20;
    let folder = tempfile::tempdir().unwrap();
    let session = session_of(&folder, 17, Grain::Nanoseconds(20_000));
    let run = &session.runs[0];
    let strands = json(&session, "meta")["runs"][0]["strands"].as_u64();
    let (mut opened, mut first) = (0, 0);
    for strand in 0..strands.unwrap() {
        if answer(&session, &format!("api/v1/dag?run=a&ids=s{strand}")).is_ok() {
            let kept = run.kept();
            opened += 1;
            first = if opened == 1 { kept } else { first };
            assert!(
                kept <= MAX_CACHED_BYTES,
                "{kept} bytes after {opened} folded strands"
            );
        }
    }
    let all = opened * first;
    assert!(
        all > MAX_CACHED_BYTES,
        "{opened} folded strands are {all} bytes"
    );
}
