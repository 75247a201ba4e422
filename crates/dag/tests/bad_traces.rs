//! One bad text trace for each error of TEXT_TRACE.md: the message, word for word.

use workspan_dag::text;

const HEADER: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"}"#;

/// The message for the lines after a header; a line in the table is `ev task t w rest-of-keys`, or JSON as it stands.
fn message(lines: &str) -> String {
    let mut trace = String::from(HEADER);
    for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
        trace.push('\n');
        trace.push_str(&json(line));
    }
    match text::read_str(&trace) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn json(line: &str) -> String {
    let words: Vec<&str> = line.splitn(5, ' ').collect();
    match words[..] {
        [ev, task, t, w] => format!(r#"{{"ev":"{ev}","task":{task},"t":{t},"w":{w}}}"#),
        [ev, task, t, w, rest] if !line.starts_with('{') => {
            format!(r#"{{"ev":"{ev}","task":{task},"t":{t},"w":{w},{rest}}}"#)
        }
        _ => line.to_owned(),
    }
}

/// What is wrong, the lines (the first is line 2 of the file), the message.
const TABLE: &[(&str, &str, &str)] = &[
    (
        "unknown ev",
        "jump 0 0 0",
        r#"line 2: task 0: unknown event "jump"; expected begin, create, resume, scope, wait, yield, end, depend, signal, region_begin, region_end, part_begin, part_end, off, on, steal, steal_failed, sleep, wake, cpu, queue or folded"#,
    ),
    (
        "missing ev",
        r#"{"task":0}"#,
        r#"line 2: task 0: no `ev`; expected one that says what happened, as "begin""#,
    ),
    (
        "missing key",
        r#"{"ev":"begin","t":0,"task":0}"#,
        "line 2: task 0: `begin` lacks the key `w`; expected a whole number, not negative",
    ),
    (
        "missing key of a later line",
        "begin 0 0 0\ncreate 0 1 0",
        "",
    ),
    (
        "wrong type: a text for a time",
        r#"begin 0 "0" 0"#,
        r#"line 2: task 0: `t` is "0"; expected a whole number from 0 to 2^63 - 1"#,
    ),
    (
        "wrong type: a fraction",
        "begin 0 0.5 0",
        "line 2: task 0: `t` is 0.5; expected a whole number from 0 to 2^63 - 1",
    ),
    (
        "wrong type: negative",
        "begin 0 -1 0",
        "line 2: task 0: `t` is -1; expected a whole number from 0 to 2^63 - 1",
    ),
    (
        "beyond 2^63 - 1",
        "begin 0 9223372036854775808 0",
        "line 2: task 0: `t` is 9223372036854775808; expected a whole number from 0 to 2^63 - 1",
    ),
    (
        "wrong type: flag",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1,\"inline\":1",
        "",
    ),
    (
        "wrong type: list",
        "begin 0 0 0\nwait 0 1 0 \"of\":1",
        "line 3: task 0: `of` is 1; expected a list of whole numbers",
    ),
    (
        "wrong type: counters",
        "begin 0 0 0\nend 0 1 0 \"counters\":{\"a\":-1}",
        "",
    ),
    (
        "not JSON",
        "begin 0 0 0\n{\"ev\":",
        "line 3: not JSON (EOF while parsing a value, column 6); expected one JSON object a line",
    ),
    (
        "no object",
        "[1]",
        "line 2: found a list; expected a JSON object, one a line",
    ),
    (
        "no task at all",
        "",
        "line 1: no task at all; expected at least one `begin` and `end`",
    ),
    (
        "w out of range",
        "begin 0 0 2",
        "line 2: task 0: `w` is 2, out of range; expected 0 to 1 (the header's threads are 2)",
    ),
    (
        "victim out of range",
        r#"{"ev":"steal_failed","t":0,"w":0,"victim":7}"#,
        "",
    ),
    (
        "t decreasing",
        "begin 0 5 0\nend 0 4 0",
        "line 3: task 0: `t` is 4, earlier than the task's line before it at 5; expected 5 or later",
    ),
    (
        "t decreasing in a region line",
        "begin 0 5 0\nregion_begin 0 4 0 \"region\":\"r\"",
        "",
    ),
    (
        "begin before its create, in time",
        "begin 0 0 0\ncreate 0 9 0 \"child\":1\nresume 0 9 0\nwait 0 9 0\nbegin 1 8 1\nend 1 10 1\nresume 0 10 0\nend 0 11 0",
        "",
    ),
    (
        "begin before its create, in the file",
        "begin 0 0 0\nbegin 1 2 1\ncreate 0 1 0 \"child\":1",
        "",
    ),
    (
        "begin before what it depends on",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1\nresume 0 1 0\ncreate 0 2 0 \"child\":2\n{\"ev\":\"depend\",\"task\":2,\"on\":1}\nbegin 1 3 1\nend 1 9 1\nresume 0 2 0\nwait 0 2 0\nbegin 2 8 0\nend 2 9 0\nresume 0 9 0\nend 0 9 0",
        "",
    ),
    (
        "overlap on a thread",
        "begin 0 0 0\nend 0 9 0\nbegin 1 8 0\nend 1 12 0",
        "",
    ),
    (
        "second begin",
        "begin 0 0 0\nbegin 0 1 0",
        "line 3: task 0: a second begin, after the one at line 2; expected one begin a task",
    ),
    (
        "second end",
        "begin 0 0 0\nend 0 1 0\nend 0 1 0",
        "line 4: task 0: a second end after the task's end at line 3; expected nothing of it there",
    ),
    (
        "creating an existing task",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1\nresume 0 1 0\ncreate 0 2 0 \"child\":1",
        "",
    ),
    (
        "creating itself",
        "begin 0 0 0\ncreate 0 1 0 \"child\":0",
        "",
    ),
    (
        "inline with detached",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1,\"inline\":true,\"detached\":true",
        "",
    ),
    (
        "strand event with no strand open",
        "begin 0 0 0\nyield 0 1 0\nend 0 2 0",
        "",
    ),
    (
        "strand event before begin",
        "end 0 1 0",
        "line 2: task 0: `end` before the task's `begin`; expected its `begin` first",
    ),
    (
        "strand event on another thread",
        "begin 0 0 0\nend 0 1 1",
        "",
    ),
    (
        "start with one open",
        "begin 0 0 0\nresume 0 1 0",
        "line 3: task 0: resume with a strand open since line 2; expected a create, wait or yield before it",
    ),
    (
        "resume after the end",
        "begin 0 0 0\nend 0 1 0\nresume 0 2 0",
        "",
    ),
    (
        "region outside a strand",
        "begin 0 0 0\nyield 0 1 0\nregion_begin 0 1 0 \"region\":\"r\"",
        "",
    ),
    (
        "part outside a strand",
        "begin 0 0 0\nyield 0 1 0\npart_begin 0 1 0 \"part\":\"p\"",
        "",
    ),
    (
        "scope outside a strand",
        "begin 0 0 0\nyield 0 1 0\nscope 0 1 0 \"scope\":7,\"kind\":\"group\"",
        "",
    ),
    (
        "signal outside a strand",
        "begin 0 0 0\nyield 0 1 0\nsignal 0 1 0 \"id\":3",
        "",
    ),
    (
        "unknown kind of scope",
        "begin 0 0 0\nscope 0 1 0 \"scope\":7,\"kind\":\"ring\"",
        "",
    ),
    (
        "resume before what it waits for has ended",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1\nresume 0 1 0\nwait 0 1 0\nbegin 1 2 1\nend 1 9 1\nresume 0 8 0\nend 0 9 0",
        "",
    ),
    (
        "resume before a scope's member has ended",
        "begin 0 0 0\nscope 0 0 0 \"scope\":4,\"kind\":\"tree\"\ncreate 0 1 0 \"child\":1\nresume 0 1 0\nwait 0 1 0 \"scope\":4\nbegin 1 2 1\nend 1 9 1\nresume 0 8 0\nend 0 9 0",
        "",
    ),
    (
        "resume before a signal is set",
        "begin 0 0 0\nwait 0 1 0 \"on\":[3]\nbegin 1 0 1\nsignal 1 5 1 \"id\":3\nend 1 6 1\nresume 0 4 0\nend 0 9 0",
        "",
    ),
    (
        "unknown scope waited for",
        "begin 0 0 0\nwait 0 1 0 \"scope\":7\nresume 0 1 0\nend 0 1 0",
        "",
    ),
    (
        "unknown scope created into",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1,\"scope\":7\nresume 0 1 0\nend 0 1 0\nbegin 1 1 1\nend 1 2 1",
        "",
    ),
    (
        "unknown task waited for",
        "begin 0 0 0\nwait 0 1 0 \"of\":[0,7]\nresume 0 1 0\nend 0 1 0",
        "",
    ),
    (
        "unknown signal waited for",
        "begin 0 0 0\nwait 0 1 0 \"on\":[7]\nresume 0 1 0\nend 0 1 0",
        "",
    ),
    (
        "unknown task depended on",
        "{\"ev\":\"depend\",\"task\":0,\"on\":7}\nbegin 0 0 0\nend 0 1 0",
        "",
    ),
    (
        "more than one thing waited for",
        "begin 0 0 0\nwait 0 1 0 \"on\":[7],\"of\":[1]",
        "",
    ),
    (
        "scope id used again",
        "begin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nwait 0 1 0 \"scope\":7\nresume 0 1 0\nscope 0 1 0 \"scope\":7,\"kind\":\"group\"",
        "",
    ),
    (
        "scope closed twice",
        "begin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nwait 0 1 0 \"scope\":7\nresume 0 1 0\nwait 0 2 0 \"scope\":7",
        "",
    ),
    (
        "scope closed by another task",
        "begin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nbegin 1 0 1\nwait 1 1 1 \"scope\":7",
        "",
    ),
    (
        "scope closed by another task before it is opened",
        "begin 1 0 1\nwait 1 1 1 \"scope\":7\nresume 1 3 1\nend 1 3 1\nbegin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nwait 0 1 0 \"scope\":7\nresume 0 1 0\nend 0 2 0",
        "",
    ),
    (
        "scope still open at its task's end",
        "begin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nend 0 2 0",
        "",
    ),
    (
        "signal set twice",
        "begin 0 0 0\nsignal 0 1 0 \"id\":3\nsignal 0 2 0 \"id\":3",
        "",
    ),
    (
        "region_end without begin",
        "begin 0 0 0\nregion_end 0 1 0 \"region\":\"r\"",
        "",
    ),
    (
        "part_end of another name",
        "begin 0 0 0\npart_begin 0 1 0 \"part\":\"p\"\npart_end 0 1 0 \"part\":\"q\"",
        "",
    ),
    (
        "depend cycle",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1\nresume 0 1 0\ncreate 0 1 0 \"child\":2\nresume 0 1 0\nwait 0 1 0\n{\"ev\":\"depend\",\"task\":1,\"on\":2}\n{\"ev\":\"depend\",\"task\":2,\"on\":1}\nbegin 1 2 0\nend 1 3 0\nbegin 2 3 0\nend 2 4 0\nresume 0 5 0\nend 0 6 0",
        "",
    ),
    (
        "depend on itself",
        "{\"ev\":\"depend\",\"task\":0,\"on\":0}\nbegin 0 0 0\nend 0 1 0",
        "",
    ),
    (
        "depend cycle through a wait, all at one tick",
        "begin 0 0 0\nwait 0 5 0 \"of\":[1]\nresume 0 5 0\nend 0 5 0\n{\"ev\":\"depend\",\"task\":1,\"on\":0}\nbegin 1 5 1\nend 1 5 1",
        "",
    ),
    (
        "depend after begin",
        "begin 0 0 0\n{\"ev\":\"depend\",\"task\":0,\"on\":1}",
        "",
    ),
    (
        "task without end",
        "begin 0 0 0\nyield 0 1 0",
        "line 2: task 0: the task has no end; expected an `end` line after the begin",
    ),
    (
        "task without begin",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1\nresume 0 1 0\nend 0 2 0",
        "",
    ),
    (
        "on without off",
        r#"{"ev":"on","t":3,"w":1}"#,
        "line 2: `on` of thread 1 without an `off`; expected an `off` before",
    ),
    (
        "off without on",
        "begin 0 0 0\n{\"ev\":\"off\",\"t\":3,\"w\":1,\"why\":\"blocked\"}\nend 0 4 0",
        "",
    ),
    (
        "off nested",
        "{\"ev\":\"off\",\"t\":3,\"w\":1,\"why\":\"blocked\"}\n{\"ev\":\"off\",\"t\":4,\"w\":1,\"why\":\"preempted\"}",
        "",
    ),
    (
        "off out of time order",
        "{\"ev\":\"off\",\"t\":3,\"w\":1,\"why\":\"blocked\"}\n{\"ev\":\"on\",\"t\":2,\"w\":1}",
        "",
    ),
    (
        "steal of an unknown task",
        "{\"ev\":\"steal\",\"t\":3,\"w\":1,\"victim\":0,\"task\":8}\nbegin 0 0 0\nend 0 1 0",
        "",
    ),
    (
        "two folded lines in a strand",
        "begin 0 0 0\nfolded 0 0 0 \"work\":1,\"span\":1,\"envelope\":[],\"tasks\":1,\"spawns\":1,\"syncs\":1,\"strands\":1,\"levels\":1,\"sites\":[],\"blocks\":[],\"ready_integral\":0\nfolded 0 0 0 \"work\":1",
        "",
    ),
];

#[test]
fn every_error_says_line_task_and_what_was_expected() {
    let mut wrong = String::new();
    for (name, lines, expected) in TABLE {
        let found = message(lines);
        if found != *expected {
            wrong += &format!("{name}\n   found {found}\nexpected {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// First lines and their messages.
const HEADERS: &[(&str, &str)] = &[
    (
        "",
        r#"line 1: an empty line; expected the header, {"workspan_trace":1,…}"#,
    ),
    (
        r#"{"ev":"begin","t":0,"w":0,"task":0}"#,
        r#"line 1: no header; expected {"workspan_trace":1,"workers":…,"time_unit":…,"steals":…} as the first line"#,
    ),
    (
        r#"{"workspan_trace":2,"workers":2,"time_unit":"ns","steals":"child"}"#,
        "",
    ),
    (
        r#"{"workspan_trace":1,"time_unit":"ns","steals":"child"}"#,
        "",
    ),
    (
        r#"{"workspan_trace":1,"workers":0,"time_unit":"ns","steals":"child"}"#,
        "",
    ),
    (
        r#"{"workspan_trace":1,"workers":4000000000,"time_unit":"ns","steals":"child"}"#,
        "",
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"threads":1,"time_unit":"ns","steals":"child"}"#,
        "",
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"time_unit":"s","steals":"child"}"#,
        "",
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"time_unit":"cycles","steals":"child"}"#,
        "",
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"parent"}"#,
        "",
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","burden":"high"}"#,
        "",
    ),
];

#[test]
fn every_header_error_says_what_was_expected() {
    let mut wrong = String::new();
    for (header, expected) in HEADERS {
        let trace = format!("{header}\n{}\n{}\n", json("begin 0 0 0"), json("end 0 1 0"));
        let found = text::read_str(&trace)
            .err()
            .map_or("no error".to_owned(), |e| e.to_string());
        if found != *expected {
            wrong += &format!("{header}\n   found {found}\nexpected {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
