//! The user's lines of parallel iterators, in an optimised program that cargo built.

use std::fs;

use crate::project::{Project, WORKSPAN, printed, read, said, sites, trace_of};

/// The line that ends in this comment, 1-based.
fn marked(source: &str, mark: &str) -> usize {
    let comment = format!("// {mark}");
    source.lines().position(|l| l.ends_with(&comment)).unwrap() + 1
}

#[test]
fn iterators_in_installed_closures_and_chains_have_the_users_lines() {
    let project = Project::new("chains");
    let source = fs::read_to_string(project.root.join("src/main.rs")).unwrap();
    let line = |mark: &str| marked(&source, mark);
    let output = project
        .cargo_workspan(&["run", "--locked"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let trace = trace_of(&output, &project.root);
    let dag = read(&trace);
    let (first, last) = (line("chain"), line("end of chain"));
    let mut expected = vec![
        format!("src/main.rs:{}", line("inlined")),
        format!("src/main.rs:{}", line("installed")),
        format!("src/main.rs:{first}-{last}"),
    ];
    expected.sort();
    assert_eq!(sites(&dag), expected);
    let chain = dag.places.iter().find(|p| p.label == expected[2]).unwrap();
    assert_eq!(chain.line, Some(last as u32));
    assert_eq!(chain.first_line(), Some(first as u32));
    assert!(chain.source.as_deref().unwrap().starts_with(".par_chunks"));

    // Each of its two lines names the place for what-if.
    for line in [first, last] {
        let lines = format!("src/main.rs:{line}");
        let asked = project
            .command(WORKSPAN)
            .args(["whatif", trace.to_str().unwrap(), "--lines", &lines])
            .output()
            .unwrap();
        assert!(asked.status.success(), "{}", said(&asked));
        assert!(printed(&asked).contains(&lines), "{}", printed(&asked));
    }
}
