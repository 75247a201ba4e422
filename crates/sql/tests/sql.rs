//! Queries over known runs: their numbers are the report's, and only reading is possible.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use workspan_analysis::Options;
use workspan_sql::{Database, Error, Format, Limits, Run, append, is_database, queries, schema};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../export/tests/golden")
        .join(name)
}

fn run(name: &str, number: i64) -> Run {
    let dag =
        workspan_reader::open(&golden(name), &workspan_reader::OpenOptions::default()).unwrap();
    Run::new(number, name.into(), dag, &Options::default()).unwrap()
}

fn text(traces: &[&str], query: &str, format: Format) -> Result<String, Error> {
    let mut database = Database::in_memory()?;
    let read = database.columns_read_by(query)?;
    for (trace, number) in traces.iter().zip(1..) {
        database.load(&run(trace, number), &read)?;
    }
    let mut out = Vec::new();
    database.query(query, format, &Limits::default(), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn rows(traces: &[&str], query: &str) -> Value {
    serde_json::from_str(&text(traces, query, Format::Json).unwrap()).unwrap()
}

const A: &[&str] = &["example_a.jsonl"];

/// MODEL.md §8, example A.
#[test]
fn example_a_by_sql() {
    assert_eq!(
        rows(
            A,
            "select level, sum(time) as t from strands group by level order by level"
        ),
        json!([{"level": 0, "t": 85}, {"level": 1, "t": 20}, {"level": 2, "t": 70}])
    );
    assert_eq!(
        rows(
            A,
            "select work, span, elapsed, workers, tasks, spawns, syncs, steals, delay, no_work_app from runs"
        ),
        json!([{"work": 175, "span": 145, "elapsed": 145, "workers": 2, "tasks": 4, "spawns": 3, "syncs": 2, "steals": 1,
                "delay": 2, "no_work_app": 113}])
    );
    assert_eq!(
        rows(
            A,
            "select label, work, span, critical_work from sites order by critical_work desc"
        ),
        json!([{"label": "root", "work": 175, "span": 145, "critical_work": 85},
               {"label": "L13", "work": 40, "span": 40, "critical_work": 40},
               {"label": "L25", "work": 90, "span": 60, "critical_work": 20},
               {"label": "L10", "work": 30, "span": 30, "critical_work": 0}])
    );
    assert_eq!(
        rows(
            A,
            "select sum(time) as critical, (select sum(waited) from strands) as waited from strands where critical"
        ),
        json!([{"critical": 145, "waited": 2}])
    );
    assert_eq!(
        rows(
            A,
            "select number, parent, kind, work, time, children from tasks where level < 2"
        ),
        json!([{"number": 0, "parent": null, "kind": "root", "work": 175, "time": 85, "children": 1},
               {"number": 1, "parent": 0, "kind": "deferred", "work": 90, "time": 20, "children": 2}])
    );
    assert_eq!(
        rows(
            A,
            "select t.number, p.level, p.path from task_paths p join tasks t using (run, task) order by p.path"
        ),
        json!([{"number": 0, "level": 0, "path": "0"}, {"number": 1, "level": 1, "path": "0/0"},
               {"number": 2, "level": 2, "path": "0/0/0"}, {"number": 3, "level": 2, "path": "0/0/1"}])
    );
    assert_eq!(
        rows(A, "select count(*) as n from tasks"),
        json!([{"n": 4}])
    );
    assert_eq!(
        rows(A, "select count(*) as n from steals where leap"),
        json!([{"n": 0}])
    );
    assert_eq!(
        rows(A, "select thief, victim, task, t from steals"),
        json!([{"thief": 1, "victim": 0, "task": 2, "t": 92}])
    );
    assert_eq!(
        rows(A, "select label, start, end from regions"),
        json!([{"label": "create_tree", "start": 0, "end": 80}])
    );
}

#[test]
fn every_edge_leads_from_an_end_to_a_later_start() {
    for trace in [
        "serial_merge.jsonl",
        "buried.jsonl",
        "counters_and_off.jsonl",
    ] {
        assert_eq!(
            rows(
                &[trace],
                "select count(*) as n from edges e join strands a on a.strand = e.source
                            join strands b on b.strand = e.target where b.start < a.end"
            ),
            json!([{"n": 0}]),
            "{trace}"
        );
        // All strands but the roots' first have a predecessor.
        assert_eq!(
            rows(
                &[trace],
                "select (select count(*) from strands) - (select count(distinct target) from edges)
                            - (select count(*) from tasks where kind = 'root') as n"
            ),
            json!([{"n": 0}]),
            "{trace}"
        );
    }
}

#[test]
fn several_runs_and_off_cpu_times() {
    let both = ["example_a.jsonl", "counters_and_off.jsonl"];
    assert_eq!(
        rows(&both, "select run, count(*) as n from tasks group by run"),
        json!([{"run": 1, "n": 4}, {"run": 2, "n": 2}])
    );
    // Microseconds there, nanoseconds here.
    assert_eq!(
        rows(
            &both,
            "select thread, why, on_what, start, \"end\" from offs where run = 2 order by start"
        ),
        json!([{"thread": 1, "why": "blocked", "on_what": "read", "start": 150_000, "end": 900_000},
               {"thread": 0, "why": "preempted", "on_what": null, "start": 200_000, "end": 320_000}])
    );
    assert_eq!(
        rows(
            &both,
            "select counter, sum(value) as v from counters group by counter"
        ),
        json!([{"counter": "instructions", "v": 620_000}])
    );
}

#[test]
fn every_ready_query_runs_and_is_of_some_use() {
    let traces = [
        "serial_merge.jsonl",
        "counters_and_off.jsonl",
        "example_a.jsonl",
    ];
    let empty: Vec<&str> = queries::QUERIES
        .iter()
        .filter(|q| rows(&traces, q.sql) == json!([]))
        .map(|q| q.name)
        .collect();
    // Nothing in these traces: no samples, no queue depths, no leapfrogs, no events of the
    // scheduler, no waits, one process.
    let expected = [
        "ranks",
        "leapfrogs",
        "queue-depth",
        "scheduler",
        "waits",
        "hot-lines",
        "hot-critical-lines",
    ];
    assert_eq!(empty, expected);
    assert!(matches!(
        queries::named("nonsense"),
        Err(Error::NoSuchQuery(_))
    ));
}

#[test]
fn ranks_are_rows_with_what_they_waited_for() {
    let query = queries::named("ranks").unwrap().sql;
    let row = |rank: u32, work: u32, waited: u32, awaited: u32, percent: f64| {
        json!({"run": 1, "process": rank, "rank": rank, "name": "solve", "workers": 1, "elapsed": 1_000_000,
               "work": work, "waited": waited, "awaited": awaited, "waited_percent": percent})
    };
    let traces = ["late_rank.jsonl"];
    assert_eq!(
        rows(&traces, query),
        json!([
            row(0, 500_000, 500_000, 0, 50.0),
            row(1, 1_000_000, 0, 500_000, 0.0)
        ])
    );
    assert_eq!(
        rows(&traces, "select cause, lost from causes where lost > 0"),
        json!([{"cause": "late-rank", "lost": 500_000}])
    );
}

#[test]
fn a_query_can_only_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("written.db");
    let file = path.to_str().unwrap();
    for query in [
        format!("attach database '{file}' as x"),
        format!("vacuum into '{file}'"),
        "delete from strands".into(),
        "insert into strands(run) values (1)".into(),
        "create table x(a)".into(),
        "create temp table x(a)".into(),
        "drop table strands".into(),
        "pragma journal_mode = wal".into(),
        "pragma temp_store_directory = '/'".into(),
        "select load_extension('x.so')".into(),
        "begin".into(),
        format!("select 1; attach database '{file}' as x"),
        "select * from nothing".into(),
        "".into(),
        "selec".into(),
    ] {
        assert!(text(A, &query, Format::Table).is_err(), "{query}");
    }
    assert!(!path.exists());
    let error = text(A, "delete from strands", Format::Table)
        .unwrap_err()
        .to_string();
    assert!(error.contains("may only read"), "{error}");
    let error = text(A, "select nonsense from strands", Format::Table)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("nonsense") && error.contains("--schema"),
        "{error}"
    );
}

#[test]
fn tables_csv_and_json() {
    let query =
        "select label, critical_percent, line, 'a,\"b\"' as q from sites order by site limit 2";
    assert_eq!(
        text(A, query, Format::Table).unwrap(),
        "label  critical_percent  line  q\n-----  ----------------  ----  -----\nroot             58.621        a,\"b\"\nL10                   0        a,\"b\"\n"
    );
    let csv = text(A, query, Format::Csv).unwrap();
    assert_eq!(csv.lines().next(), Some("label,critical_percent,line,q"));
    assert!(csv.ends_with(",,\"a,\"\"b\"\"\"\r\n"), "{csv}");
    assert_eq!(rows(A, "select label from sites where 0"), json!([]));
    let hostile = text(
        &["hostile_names.jsonl"],
        "select label, name from sites, runs",
        Format::Table,
    )
    .unwrap();
    assert!(
        !hostile.chars().any(|c| c.is_control() && c != '\n'),
        "{hostile:?}"
    );
}

#[test]
fn numbers_beyond_64_bits_are_the_nearest_real() {
    let work = &rows(&["near_2_63.jsonl"], "select work from runs")[0]["work"];
    let exact = 3.0 * ((1u64 << 63) - 1) as f64;
    assert!(
        (work.as_f64().unwrap() / exact - 1.0).abs() < 1e-9,
        "{work}"
    );
}

#[test]
fn a_database_file_takes_run_after_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let add =
        |names: &[&str]| append::<Error>(&path, names.len(), |i, number| Ok(run(names[i], number)));
    assert_eq!(add(&["example_a.jsonl"]).unwrap(), [1]);
    assert_eq!(
        add(&["serial_merge.jsonl", "example_a.jsonl"]).unwrap(),
        [2, 3]
    );
    assert!(is_database(&path));
    let before = std::fs::read(&path).unwrap();
    let database = Database::read_only(&path).unwrap();
    let ask = |query: &str| {
        let mut out = Vec::new();
        database.query(query, Format::Csv, &Limits::default(), &mut out)?;
        Ok::<_, Error>(String::from_utf8(out).unwrap())
    };
    assert_eq!(
        ask("select run, work from runs where name = 'tree_sum'").unwrap(),
        "run,work\r\n1,175\r\n3,175\r\n"
    );
    assert!(ask("delete from runs").is_err());
    drop(database);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let other = folder.path().join("notes.txt");
    std::fs::write(&other, "notes").unwrap();
    let error = append::<Error>(&other, 0, |_, n| Ok(run("example_a.jsonl", n))).unwrap_err();
    assert!(error.to_string().contains("is not a database"), "{error}");
}

/// docs/sql.md has the tables as they are: `workspan sql --schema --markdown` prints that part.
#[test]
fn the_documentation_is_the_schema() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains(schema::markdown().trim_end()),
        "docs/sql.md is not what `workspan sql --schema --markdown` prints"
    );
    for query in queries::QUERIES {
        assert!(
            page.contains(&format!("`{}`", query.name)),
            "docs/sql.md lacks {}",
            query.name
        );
    }
}

/// Ways to name a column, and not to name it: what SQLite reads must have been loaded. A database
/// file has all columns, so the answers must be the same.
const WAYS: &[&str] = &[
    "select count(*) as n, sum(s.time) as t from strands s join tasks t using(task) where t.level = 1",
    "select count(*) as n from strands join tasks using(task)",
    "select count(*) as n from strands join tasks using(run, task)",
    "select count(*) as n from strands natural join tasks",
    "select count(*) as n from tasks natural join sites",
    "select task from strands natural join tasks order by 1",
    "select * from tasks natural join sites order by task",
    "select count(*) as n from tasks left join sites using(run, site)",
    "select label from tasks right join sites using(site) order by 1",
    "select site, label from tasks full join sites using(site) order by 1, 2",
    "select count(*) as n from (select task from strands) join tasks using(task)",
    "select count(*) as n from (select * from strands) join (select * from tasks) using(task, site)",
    "with a as (select task, time from strands), b as (select * from tasks) select count(*) as n, sum(a.time) as t from a join b using(task)",
    "with recursive up(task) as (select max(task) from tasks union all select t.parent from tasks t join up using(task) where t.parent is not null) select task from up order by 1",
    "select count(*) as n from tasks t where exists (select 1 from strands where strands.task = t.task and strands.level = t.level)",
    "select (select count(*) from strands s join tasks using(task) where tasks.task = t.task) as n from tasks t order by 1",
    "select task from tasks where (task, level) in (select task, level from strands) order by 1",
    "select task from tasks t where task in (select parent from tasks u where u.level > t.level) order by 1",
    "select [task], `level`, \"site\" from tasks order by task",
    "select * from tasks order by task",
    "select t.*, s.time from tasks t, strands s where t.task = s.task order by s.strand",
    "select task from tasks except select task from strands where critical order by 1",
    "select level as \"the level\", count(*) as n from strands group by 1 order by 1",
    "select count(*) as n from tasks group by site having max(level) > 1",
    "select task, row_number() over (partition by level order by start, task) as n from tasks order by task",
    "select sum(time) filter (where critical) as t from strands",
    "select a.run from runs a join runs b using(name, work, span)",
    "select count(*) as n from strands a join strands b using(thread, level) where a.strand < b.strand",
    "select count(*) as n from edges join (select strand as target, task from strands) using(target) join tasks using(task)",
    "select x.task from (values (1), (2)) as v join (select task, column1 from tasks, (values (1), (2))) as x using(column1) order by 1",
    "select count(*) as n from strands, tasks",
    "select 1 as one from tasks",
    "select count(*) as n from tasks where 0",
];

#[test]
fn a_trace_answers_as_its_database_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let traces = ["example_a.jsonl", "counters_and_off.jsonl"];
    append::<Error>(&path, 2, |i, number| Ok(run(traces[i], number))).unwrap();
    let database = Database::read_only(&path).unwrap();
    let ready = queries::QUERIES.iter().map(|query| query.sql);
    for query in WAYS.iter().copied().chain(ready) {
        let mut out = Vec::new();
        let asked = database.query(query, Format::Json, &Limits::default(), &mut out);
        asked.unwrap_or_else(|e| panic!("{query}: {e}"));
        let right: Value = serde_json::from_slice(&out).unwrap();
        // The indexes determine the order of rows that a query leaves unordered.
        let sorted = |rows: Value| {
            let rows = rows.as_array().unwrap().iter();
            let mut rows: Vec<String> = rows.map(Value::to_string).collect();
            rows.sort();
            rows
        };
        assert_eq!(sorted(rows(&traces, query)), sorted(right), "{query}");
    }
    // Computed manually, so that not both are wrong: task 0 has strands on level 0, and so on.
    assert_eq!(
        rows(A, WAYS[0]),
        rows(
            A,
            "select count(*) as n, sum(time) as t from strands where level = 1"
        )
    );
    assert_eq!(
        rows(A, WAYS[1]),
        rows(A, "select count(*) as n from strands")
    );
}

/// What explains another query is compiled by no other; everything is there for it.
#[test]
fn a_plan_can_be_asked() {
    let plan = text(A, "explain query plan select * from tasks", Format::Csv).unwrap();
    assert!(plan.contains("SCAN tasks"), "{plan}");
}

const FOLDED: &str = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":10,"w":0,"task":0}
{"ev":"folded","t":10,"w":0,"task":0,"work":70,"span":50,"ready_integral":60,"tasks":2,"spawns":1,"syncs":1,"strands":4,"levels":1,"envelope":[[50,0],[30,2]],"sites":[{"site":"fib.rs:9","count":2,"work":30,"span":30,"critical_work":20,"lengths":[0,0,0,1,1]}],"blocks":[["fib.rs:9",null,30],[0,"fib.rs:9",40]]}
{"ev":"end","t":80,"w":0,"task":0}
"#;

#[test]
fn folded_tasks_are_counted_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("folded.jsonl");
    std::fs::write(&trace, FOLDED).unwrap();
    let made = |number| {
        let dag = workspan_reader::open(&trace, &workspan_reader::OpenOptions::default()).unwrap();
        Run::new(number, "folded.jsonl".into(), dag, &Options::default()).unwrap()
    };
    let mut database = Database::in_memory().unwrap();
    let query = "select count(*) + sum(folded) as n, (select sum(folded) from strands) as f, (select tasks from runs) as r from tasks";
    let read = database.columns_read_by(query).unwrap();
    let run = made(1);
    database.load(&run, &read).unwrap();
    let mut out = Vec::new();
    database
        .query(query, Format::Csv, &Limits::default(), &mut out)
        .unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "n,f,r\r\n3,2,3\r\n");
    // Only queries that read rows of tasks get the note that some are missing.
    let note_of = |query: &str| run.missing_rows_note(&database.columns_read_by(query).unwrap());
    let said = note_of("select count(*) from tasks").unwrap();
    assert!(
        said.contains("2 tasks are folded and have no rows in `tasks`"),
        "{said}"
    );
    assert!(note_of("select sum(time) from strands").is_some());
    assert!(note_of("select tasks from runs").is_none());
    let path = folder.path().join("runs.db");
    append::<Error>(&path, 1, |_, number| Ok(made(number))).unwrap();
    let file = Database::read_only(&path).unwrap();
    let read = file.columns_read_by("select count(*) from tasks").unwrap();
    assert_eq!(file.missing_rows_notes(&read), [said]);
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_query_without_end_is_ended_where_there_is_a_limit() {
    let database = Database::in_memory().unwrap();
    let limits = Limits {
        time: Some(std::time::Duration::from_millis(50)),
        ..Limits::default()
    };
    let endless =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n";
    let answered = database.query(endless, Format::Csv, &limits, &mut Vec::new());
    let why = answered.unwrap_err().to_string();
    assert!(why.contains("longer than 50ms"), "{why}");
    // The limit applies only to that query.
    let mut out = Vec::new();
    let counts = endless
        .replace("select max", "select 1 where 0 union select max")
        .replace("from n)", "from n where i < 99999)");
    database
        .query(&counts, Format::Csv, &Limits::default(), &mut out)
        .unwrap();
    assert!(String::from_utf8(out).unwrap().contains("99999"));
}
