//! Adds runs to a lake.

use std::process::Command;

use crate::{add, files, lake, printed, rows, traces};

#[test]
fn a_run_is_there_with_its_tags_and_adding_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 2));
    let tags = [
        "--project",
        "p q",
        "--tag",
        "commit=c1",
        "--tag",
        "branch=main",
    ];
    add(&root, &traces, &tags);
    let before = files(&root);
    let times = |files: &[std::path::PathBuf]| -> Vec<_> {
        let times = files
            .iter()
            .map(|f| f.metadata().unwrap().modified().unwrap());
        times.collect()
    };
    let written = times(&before);
    let told = lake(&[
        "add",
        "--into",
        root.to_str().unwrap(),
        "--tag",
        "commit=c2",
        traces[0].to_str().unwrap(),
    ]);
    assert!(told.status.success());
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(
        told.contains("is in the lake already") && told.contains("project p_q"),
        "{told}"
    );
    assert_eq!((files(&root), times(&files(&root))), (before, written));
    assert_eq!(
        rows(
            &root,
            "select project, \"commit\", branch, count(*) from runs group by 1, 2, 3"
        ),
        ["p_q,c1,main,2"]
    );
    assert_eq!(
        rows(
            &root,
            "select key, value, count(*) from tags group by 1, 2 order by 1"
        ),
        ["branch,main,2", "commit,c1,2"]
    );
}

#[test]
fn many_processes_add_to_one_lake_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 6));
    // Three processes add every trace.
    let children: Vec<_> = (0..3)
        .flat_map(|_| &traces)
        .map(|trace| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_workspan-lake"));
            command
                .args(["add", "--quiet", "--into"])
                .args([&root, trace])
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(
        rows(&root, "select count(*), count(distinct run) from runs"),
        ["6,6"]
    );
    let per_table = files(&root).len();
    assert_eq!(per_table % 6, 0, "{:?}", files(&root));
}

#[test]
fn a_trace_that_cannot_be_read_is_named_and_others_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 1));
    let wrong = folder.path().join("wrong.wspan");
    std::fs::write(&wrong, "no trace").unwrap();
    let [root, good] = [&root, &traces[0]].map(|path| path.to_str().unwrap());
    let output = lake(&[
        "add",
        "--into",
        root,
        wrong.to_str().unwrap(),
        "nowhere.wspan",
        good,
    ]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("wrong.wspan") && said.contains("nowhere.wspan"),
        "{said}"
    );
    assert!(printed(&["sql", root, "select count(*) from runs"]).contains('1'));
}

#[test]
fn tasks_and_strands_are_of_detailed_runs_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 2));
    add(&root, &traces[..1], &[]);
    let output = lake(&["sql", root.to_str().unwrap(), "select * from strands"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("--detail"),
        "{said}"
    );
    // A run that is there gets no further tables, and that is said with a way out.
    let [trace, into] = [&traces[0], &root].map(|path| path.to_str().unwrap());
    let again = ["add", "--quiet", "--detail", trace, "--into", into];
    let output = lake(&again);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.contains("without the tables of --detail"),
        "{said}"
    );
    let record = files(&root.join("v1/runs")).remove(0);
    assert!(said.contains(record.to_str().unwrap()), "{said}");
    std::fs::remove_file(record).unwrap();
    assert_eq!(lake(&again).stderr, b"");
    assert_eq!(
        rows(&root, "select count(distinct run) from strands"),
        ["1"]
    );
    assert_eq!(lake(&again).stderr, b"");
    std::fs::remove_dir_all(&root).unwrap();
    add(&root, &traces[..1], &[]);
    add(&root, &traces[1..], &["--detail"]);
    let both = "select (select count(*) from runs), (select count(distinct run) from strands)";
    assert_eq!(rows(&root, both), ["2,1"]);
}

#[test]
fn a_wrong_query_is_told_in_the_users_words() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 1));
    add(&root, &traces, &[]);
    let root = root.to_str().unwrap();
    let said = |arguments: &[&str]| {
        let output = lake(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let misspelt = said(&["sql", root, "selekt 1"]);
    assert!(
        misspelt.contains("found: selekt at Line: 1, Column: 1"),
        "{misspelt}"
    );
    assert!(!misspelt.contains("ParserError"), "{misspelt}");
    let unknown = said(&["sql", root, "select * from nowhere"]);
    assert!(
        unknown.contains("table 'nowhere' not found; the tables are runs,"),
        "{unknown}"
    );
    let nothing = said(&["sql", root]);
    assert!(
        nothing.contains(&format!("workspan lake sql {root} --query commits")),
        "{nothing}"
    );
    let lost = said(&["history", root, "--site", "a", "--quantity", "lost"]);
    assert!(lost.contains("a site has no `lost`"), "{lost}");
    // The SQL of a ready-made query needs no lake.
    assert!(printed(&["sql", "--query", "commits", "--show"]).contains("FROM runs"));
}

#[test]
fn a_query_can_only_read() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 1));
    add(&root, &traces, &[]);
    let stolen = folder.path().join("stolen.parquet");
    let copy = format!("copy (select 1) to '{}'", stolen.display());
    let create = format!(
        "create external table t stored as csv location '{}'",
        traces[0].display()
    );
    let select = format!("select * from '{}'", traces[0].display());
    let wrong = [
        "drop table runs",
        "insert into runs values (1)",
        "set datafusion.execution.batch_size = 1",
        &copy,
        &create,
        &select,
    ];
    for query in wrong {
        let output = lake(&["sql", root.to_str().unwrap(), query]);
        assert_eq!(output.status.code(), Some(1), "{query}");
    }
    assert!(!stolen.exists());
}
