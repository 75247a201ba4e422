//! One bad text trace for each error of TEXT_TRACE.md: the message, word for word.

use workspan_reader::text;

const HEADER: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"}"#;

/// The error message for these lines after a header. A line in the table is `ev task t w
/// rest-of-keys`, or plain JSON.
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

/// The error, the lines (the first is line 2 of the file), and the message.
const TABLE: &[(&str, &str, &str)] = &[
    (
        "unknown ev",
        "jump 0 0 0",
        r#"line 2: task 0: unknown event "jump"; expected begin, create, resume, scope, wait, yield, end, depend, signal, region_begin, region_end, part_begin, part_end, off, on, steal, steal_failed, sleep, wake, cpu, queue, frame, stack, sample, stop, pool, worker, recorder or folded"#,
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
        "line 3: task 0: `create` lacks the key `child`; expected a whole number, not negative",
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
        "line 3: task 0: `inline` is 1; expected true or false",
    ),
    (
        "wrong type: list",
        "begin 0 0 0\nwait 0 1 0 \"of\":1",
        "line 3: task 0: `of` is 1; expected a list of whole numbers",
    ),
    (
        "wrong type: counters",
        "begin 0 0 0\nend 0 1 0 \"counters\":{\"a\":-1}",
        r#"line 3: task 0: `counters` has "a": -1; expected whole numbers, not negative"#,
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
        "line 2: `victim` is 7, out of range; expected 0 to 1 (the header's threads are 2)",
    ),
    (
        "t decreasing",
        "begin 0 5 0\nend 0 4 0",
        "line 3: task 0: `t` is 4, earlier than the task's line before it at 5; expected 5 or later",
    ),
    (
        "t decreasing in a region line",
        "begin 0 5 0\nregion_begin 0 4 0 \"region\":\"r\"",
        "line 3: task 0: `t` is 4, earlier than the task's line before it at 5; expected 5 or later",
    ),
    (
        "begin before its create, in time",
        "begin 0 0 0\ncreate 0 9 0 \"child\":1\nresume 0 9 0\nwait 0 9 0\nbegin 1 8 1\nend 1 10 1\nresume 0 10 0\nend 0 11 0",
        "line 6: task 1: begins at 8, before its create at 9; expected a begin at 9 or later",
    ),
    (
        "begin before its create, in the file",
        "begin 0 0 0\nbegin 1 2 1\ncreate 0 1 0 \"child\":1",
        "line 4: task 0: creates task 1, which already began at line 3; expected its create before its begin",
    ),
    (
        "begin before what it depends on",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1\nresume 0 1 0\ncreate 0 2 0 \"child\":2\n{\"ev\":\"depend\",\"task\":2,\"on\":1}\nbegin 1 3 1\nend 1 9 1\nresume 0 2 0\nwait 0 2 0\nbegin 2 8 0\nend 2 9 0\nresume 0 9 0\nend 0 9 0",
        "line 11: task 2: begins at 8, before task 1, which it depends on, ended at 9; expected a begin at 9 or later",
    ),
    (
        "overlap on a thread",
        "begin 0 0 0\nend 0 9 0\nbegin 1 8 0\nend 1 12 0",
        "line 4: task 1: a strand from 8 on thread 0 overlaps task 0's from 0 to 9 (line 2); expected one strand at a time on a thread",
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
        "line 5: task 0: creates task 1, which exists already (created at line 3); expected a new number",
    ),
    (
        "creating itself",
        "begin 0 0 0\ncreate 0 1 0 \"child\":0",
        "line 3: task 0: creates task 0, which already began at line 2; expected its create before its begin",
    ),
    (
        "inline with detached",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1,\"inline\":true,\"detached\":true",
        "line 3: task 0: both `inline` and `detached`; expected at most one of them",
    ),
    (
        "strand event with no strand open",
        "begin 0 0 0\nyield 0 1 0\nend 0 2 0",
        "line 4: task 0: `end` with no strand open; expected a `resume` before it",
    ),
    (
        "strand event before begin",
        "end 0 1 0",
        "line 2: task 0: `end` before the task's `begin`; expected its `begin` first",
    ),
    (
        "strand event on another thread",
        "begin 0 0 0\nend 0 1 1",
        "line 3: task 0: `end` on thread 1, but the open strand started on thread 0; expected one thread a strand",
    ),
    (
        "start with one open",
        "begin 0 0 0\nresume 0 1 0",
        "line 3: task 0: resume with a strand open since line 2; expected a create, wait or yield before it",
    ),
    (
        "resume after the end",
        "begin 0 0 0\nend 0 1 0\nresume 0 2 0",
        "line 4: task 0: resume after the task's end at line 3; expected nothing of it there",
    ),
    (
        "region outside a strand",
        "begin 0 0 0\nyield 0 1 0\nregion_begin 0 1 0 \"region\":\"r\"",
        "line 4: task 0: `region_begin` with no strand open; expected a `resume` before it",
    ),
    (
        "part outside a strand",
        "begin 0 0 0\nyield 0 1 0\npart_begin 0 1 0 \"part\":\"p\"",
        "line 4: task 0: `part_begin` with no strand open; expected a `resume` before it",
    ),
    (
        "scope outside a strand",
        "begin 0 0 0\nyield 0 1 0\nscope 0 1 0 \"scope\":7,\"kind\":\"group\"",
        "line 4: task 0: `scope` with no strand open; expected a `resume` before it",
    ),
    (
        "signal outside a strand",
        "begin 0 0 0\nyield 0 1 0\nsignal 0 1 0 \"id\":3",
        "line 4: task 0: `signal` with no strand open; expected a `resume` before it",
    ),
    (
        "unknown kind of scope",
        "begin 0 0 0\nscope 0 1 0 \"scope\":7,\"kind\":\"ring\"",
        r#"line 3: task 0: `kind` is "ring"; expected "group" or "tree" or "team""#,
    ),
    (
        "resume before what it waits for has ended",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1\nresume 0 1 0\nwait 0 1 0\nbegin 1 2 1\nend 1 9 1\nresume 0 8 0\nend 0 9 0",
        "line 8: task 0: resumes at 8, before task 1, which it waits for, ended at 9; expected a resume at 9 or later",
    ),
    (
        "resume before a scope's member has ended",
        "begin 0 0 0\nscope 0 0 0 \"scope\":4,\"kind\":\"tree\"\ncreate 0 1 0 \"child\":1\nresume 0 1 0\nwait 0 1 0 \"scope\":4\nbegin 1 2 1\nend 1 9 1\nresume 0 8 0\nend 0 9 0",
        "line 9: task 0: resumes at 8, before task 1, which it waits for, ended at 9; expected a resume at 9 or later",
    ),
    (
        "resume before a signal is set",
        "begin 0 0 0\nwait 0 1 0 \"on\":[3]\nbegin 1 0 1\nsignal 1 5 1 \"id\":3\nend 1 6 1\nresume 0 4 0\nend 0 9 0",
        "line 7: task 0: resumes at 4, before signal 3, which it waits for, was set at 5; expected a resume at 5 or later",
    ),
    (
        "unknown scope waited for",
        "begin 0 0 0\nwait 0 1 0 \"scope\":7\nresume 0 1 0\nend 0 1 0",
        "line 3: task 0: waits for the unknown scope 7; expected a `scope` line that opens it",
    ),
    (
        "unknown scope created into",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1,\"scope\":7\nresume 0 1 0\nend 0 1 0\nbegin 1 1 1\nend 1 2 1",
        "line 3: task 0: creates into the unknown scope 7; expected a `scope` line that opens it",
    ),
    (
        "unknown task waited for",
        "begin 0 0 0\nwait 0 1 0 \"of\":[0,7]\nresume 0 1 0\nend 0 1 0",
        "line 3: task 0: waits for the unknown task 7; expected a line that creates or begins it",
    ),
    (
        "unknown signal waited for",
        "begin 0 0 0\nwait 0 1 0 \"on\":[7]\nresume 0 1 0\nend 0 1 0",
        "line 3: task 0: waits for the unknown signal 7; expected a `signal` line that sets it",
    ),
    (
        "unknown task depended on",
        "{\"ev\":\"depend\",\"task\":0,\"on\":7}\nbegin 0 0 0\nend 0 1 0",
        "line 2: task 0: `depend` names the unknown task 7; expected a line that creates or begins it",
    ),
    (
        "more than one thing waited for",
        "begin 0 0 0\nwait 0 1 0 \"on\":[7],\"of\":[1]",
        "line 3: task 0: more than one of `scope`, `of` and `on`; expected at most one of the three",
    ),
    (
        "scope id used again",
        "begin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nwait 0 1 0 \"scope\":7\nresume 0 1 0\nscope 0 1 0 \"scope\":7,\"kind\":\"group\"",
        "line 6: task 0: opens scope 7, used already at line 3; expected a new id, each is used once",
    ),
    (
        "scope closed twice",
        "begin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nwait 0 1 0 \"scope\":7\nresume 0 1 0\nwait 0 2 0 \"scope\":7",
        "line 6: task 0: closes scope 7 twice, first at line 4; expected one wait for a scope",
    ),
    (
        "scope closed by another task",
        "begin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nbegin 1 0 1\nwait 1 1 1 \"scope\":7",
        "line 5: task 1: waits for scope 7, opened by task 0 at line 3; expected its opener to close it",
    ),
    (
        "scope closed by another task before it is opened",
        "begin 1 0 1\nwait 1 1 1 \"scope\":7\nresume 1 3 1\nend 1 3 1\nbegin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nwait 0 1 0 \"scope\":7\nresume 0 1 0\nend 0 2 0",
        "line 3: task 1: waits for scope 7, which task 0 opens later, at line 7; expected its opener to close it, after opening it",
    ),
    (
        "scope still open at its task's end",
        "begin 0 0 0\nscope 0 0 0 \"scope\":7,\"kind\":\"group\"\nend 0 2 0",
        r#"line 4: task 0: scope 7, opened at line 3, is still open at its task's end; expected a wait with "scope":7 before"#,
    ),
    (
        "signal set twice",
        "begin 0 0 0\nsignal 0 1 0 \"id\":3\nsignal 0 2 0 \"id\":3",
        "line 4: task 0: sets signal 3 a second time, after line 3; expected each to be set once",
    ),
    (
        "region_end without begin",
        "begin 0 0 0\nregion_end 0 1 0 \"region\":\"r\"",
        r#"line 3: task 0: `region_end` of "r", which this task has not open; expected a `region_begin` of it before"#,
    ),
    (
        "part_end of another name",
        "begin 0 0 0\npart_begin 0 1 0 \"part\":\"p\"\npart_end 0 1 0 \"part\":\"q\"",
        r#"line 4: task 0: `part_end` of "q", which this task has not open; expected a `part_begin` of it before"#,
    ),
    (
        "depend cycle",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1\nresume 0 1 0\ncreate 0 1 0 \"child\":2\nresume 0 1 0\nwait 0 1 0\n{\"ev\":\"depend\",\"task\":1,\"on\":2}\n{\"ev\":\"depend\",\"task\":2,\"on\":1}\nbegin 1 2 0\nend 1 3 0\nbegin 2 3 0\nend 2 4 0\nresume 0 5 0\nend 0 6 0",
        "line 10: task 1: depends on itself, through the tasks it depends on or waits for (a depend cycle)",
    ),
    (
        "depend on itself",
        "{\"ev\":\"depend\",\"task\":0,\"on\":0}\nbegin 0 0 0\nend 0 1 0",
        "line 3: task 0: depends on itself, through the tasks it depends on or waits for (a depend cycle)",
    ),
    (
        "depend cycle through a wait, all at one tick",
        "begin 0 0 0\nwait 0 5 0 \"of\":[1]\nresume 0 5 0\nend 0 5 0\n{\"ev\":\"depend\",\"task\":1,\"on\":0}\nbegin 1 5 1\nend 1 5 1",
        "line 7: task 1: depends on itself, through the tasks it depends on or waits for (a depend cycle)",
    ),
    (
        "a task that waits for itself",
        "begin 0 0 0\nwait 0 5 0 \"of\":[0]\nresume 0 5 0\nend 0 5 0",
        "line 2: task 0: depends on itself, through the tasks it depends on or waits for (a depend cycle)",
    ),
    (
        "depend after begin",
        "begin 0 0 0\n{\"ev\":\"depend\",\"task\":0,\"on\":1}",
        "line 3: task 0: `depend` after the task's begin at line 2; expected it before",
    ),
    (
        "task without end",
        "begin 0 0 0\nyield 0 1 0",
        "line 2: task 0: the task has no end; expected an `end` line after the begin",
    ),
    (
        "task without begin",
        "begin 0 0 0\ncreate 0 1 0 \"child\":1\nresume 0 1 0\nend 0 2 0",
        "line 3: task 1: created, but the task has no begin and no end; expected both in the trace",
    ),
    (
        "on without off",
        r#"{"ev":"on","t":3,"w":1}"#,
        "line 2: `on` of thread 1 without an `off`; expected an `off` before",
    ),
    (
        "off without on",
        "begin 0 0 0\n{\"ev\":\"off\",\"t\":3,\"w\":1,\"why\":\"blocked\"}\nend 0 4 0",
        "line 3: `off` of thread 1 without an `on`; expected an `on` after it",
    ),
    (
        "off nested",
        "{\"ev\":\"off\",\"t\":3,\"w\":1,\"why\":\"blocked\"}\n{\"ev\":\"off\",\"t\":4,\"w\":1,\"why\":\"preempted\"}",
        "line 3: thread 1 is off already since line 2; expected an `on` before",
    ),
    (
        "off out of time order",
        "{\"ev\":\"off\",\"t\":3,\"w\":1,\"why\":\"blocked\"}\n{\"ev\":\"on\",\"t\":2,\"w\":1}",
        "line 3: `on` of thread 1 at 2, earlier than its line before at 3; expected time order",
    ),
    (
        "steal of an unknown task",
        "{\"ev\":\"steal\",\"t\":3,\"w\":1,\"victim\":0,\"task\":8}\nbegin 0 0 0\nend 0 1 0",
        "line 2: task 8: `steal` names this unknown task; expected a line that creates or begins it",
    ),
    (
        "two folded lines in a strand",
        "begin 0 0 0\nfolded 0 0 0 \"work\":1,\"span\":1,\"envelope\":[],\"tasks\":1,\"spawns\":1,\"syncs\":1,\"strands\":1,\"levels\":1,\"sites\":[],\"blocks\":[],\"ready_integral\":0\nfolded 0 0 0 \"work\":1",
        "line 4: task 0: a second `folded` line in one strand; expected at most one",
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
        r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","on_cpus":[{"w":2,"cpu":0,"ns":1}]}"#,
        "line 1: `w` in `on_cpus` is 2; expected a thread below 2",
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","on_cpus":[{"w":1,"ns":1}]}"#,
        "line 1: `on_cpus` lacks the key `cpu`; expected a whole number below 2^32 - 1",
    ),
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
        "line 1: version 2 of the text trace; expected version 1, the one this workspan reads: get a newer workspan or write version 1",
    ),
    (
        r#"{"workspan_trace":1,"time_unit":"ns","steals":"child"}"#,
        "line 1: `header` lacks the key `workers`; expected a whole number, not negative",
    ),
    (
        r#"{"workspan_trace":1,"workers":0,"time_unit":"ns","steals":"child"}"#,
        "line 1: `workers` is 0; expected 1 to 1048576",
    ),
    (
        r#"{"workspan_trace":1,"workers":4000000000,"time_unit":"ns","steals":"child"}"#,
        "line 1: `workers` is 4000000000; expected 1 to 1048576",
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"threads":1,"time_unit":"ns","steals":"child"}"#,
        "line 1: `threads` is 1, below `workers`, 2; expected at least as many",
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"time_unit":"s","steals":"child"}"#,
        r#"line 1: `time_unit` is "s"; expected "ns" or "us" or "ms" or "cycles""#,
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"time_unit":"cycles","steals":"child"}"#,
        "line 1: `header` lacks the key `clock_hz`; expected a whole number, not negative",
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"parent"}"#,
        r#"line 1: `steals` is "parent"; expected "child" or "continuation""#,
    ),
    (
        r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","burden":"high"}"#,
        r#"line 1: `burden` is "high"; expected a whole number, not negative"#,
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

#[test]
fn no_more_of_a_name_is_quoted_than_its_beginning() {
    let long = "\u{7f}".repeat(100_000);
    for line in [
        format!("{long} 0 0 0"),
        format!("begin 0 0 0\nregion_end 0 1 0 \"region\":\"{long}\""),
        format!("begin 0 0 0\nend 0 1 0 \"counters\":{{\"{long}\":0.5}}"),
        format!("begin 0 0 0\nend 0 1 0 \"counters\":{{\"{long}\":1,\"{long}\":1}}"),
    ] {
        let found = message(&line);
        assert!(
            found.len() < 700 && found.contains(r#"\u{7f}"…"#),
            "{found}"
        );
    }
}
