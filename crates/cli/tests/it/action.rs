//! The composite action: its steps run as the scripts that GitHub would run, on a recorded program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::project::{Project, WORKSPAN, bare, printed, said};

fn action() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(".github/actions/workspan")
        .canonicalize()
        .unwrap()
}

/// A step of `action.yml`: its variables, with inputs still as expressions, and its command.
#[derive(Default)]
struct Step {
    variables: Vec<(String, String)>,
    run: String,
}

/// The inputs' defaults and the steps. The file uses only the few forms that are parsed here.
fn read_action() -> (BTreeMap<String, String>, Vec<Step>) {
    let text = fs::read_to_string(action().join("action.yml")).unwrap();
    let (inputs, rest) = text.split_once("\noutputs:\n").unwrap();
    let mut defaults = BTreeMap::new();
    let mut name = "";
    for line in inputs.lines() {
        match line.strip_prefix("  ") {
            Some(key) if !key.starts_with(' ') => name = key.trim_end_matches(':'),
            _ => {}
        }
        if let Some(value) = line.trim().strip_prefix("default:") {
            let value = value.trim().trim_matches('\'');
            defaults.insert(name.to_owned(), value.to_owned());
        }
    }
    let steps = rest.split("\n    - id: ").skip(1).map(|text| {
        let mut step = Step::default();
        for line in text.lines() {
            if let Some(run) = line.strip_prefix("      run: ") {
                run.clone_into(&mut step.run);
            } else if let Some(variable) = line.strip_prefix("        ") {
                let (name, value) = variable.split_once(": ").unwrap();
                step.variables.push((name.to_owned(), value.to_owned()));
            }
        }
        step
    });
    (defaults, steps.collect())
}

/// Runs all steps in the project until one fails, with these inputs. GitHub's files are in
/// `folder`.
fn run_steps(project: &Project, folder: &Path, inputs: &[(&str, &str)]) -> (Output, String) {
    let (mut values, steps) = read_action();
    assert_eq!(steps.len(), 2);
    values.extend(
        inputs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned())),
    );
    let file = |name: &str| folder.join(name);
    let mut all = String::new();
    let mut last = None;
    for step in steps {
        let mut command = bare("bash");
        command.args(["-c", &step.run]).current_dir(&project.root);
        for (name, value) in &step.variables {
            let input = value
                .trim_start_matches("${{ inputs.")
                .trim_end_matches(" }}");
            command.env(
                name,
                values.get(input).unwrap_or_else(|| panic!("no {input}")),
            );
        }
        let output = command
            .env("GITHUB_ACTION_PATH", action())
            .env("GITHUB_OUTPUT", file("github-output"))
            .env("GITHUB_STEP_SUMMARY", file("github-summary"))
            .output()
            .unwrap();
        all.push_str(&printed(&output));
        let success = output.status.success();
        last = Some(output);
        if !success {
            break;
        }
    }
    (last.unwrap(), all)
}

#[test]
fn its_steps_record_check_and_write_the_results() {
    let project = Project::new("sorter");
    let folder = tempfile::tempdir().unwrap();
    let [results, base] = ["results", "base"].map(|name| folder.path().join(name));
    let run = |limits: &str| {
        let inputs = [
            ("workspan", WORKSPAN),
            ("command", "run --quiet -- exit 0"),
            ("runs", "2"),
            ("limits", limits),
            ("output", results.to_str().unwrap()),
            ("baseline", base.to_str().unwrap()),
        ];
        run_steps(&project, folder.path(), &inputs)
    };
    // Without a baseline, limits of growth are left out.
    let (output, text) = run("--min-parallelism 0.1 --max-span-growth 10%");
    assert_eq!(output.status.code(), Some(0), "{text}{}", said(&output));
    assert!(
        text.contains("no baseline yet: --max-span-growth"),
        "{text}"
    );
    assert!(text.contains("workspan: the limit is kept"), "{text}");
    assert_eq!(fs::read_dir(results.join("traces")).unwrap().count(), 2);
    fs::rename(results.join("traces"), &base).unwrap();

    // A limit that no run keeps: annotated, and in each file.
    let (output, text) = run("--min-parallelism 1e6 --max-work-growth 100000%");
    assert_eq!(output.status.code(), Some(3), "{text}{}", said(&output));
    assert!(text.contains("::error file=src/"), "{text}");
    assert!(text.contains("Where to look: "), "{text}");
    let read = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    let comment = read("comment.md");
    assert!(
        comment.contains("| | before | after | change |"),
        "{comment}"
    );
    let sarif: serde_json::Value = serde_json::from_str(&read("check.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "min-parallelism");
    let junit = read("check.xml");
    assert!(junit.contains("failures=\"1\""), "{junit}");
    let outputs = fs::read_to_string(folder.path().join("github-output")).unwrap();
    for name in ["traces=", "comment=", "sarif=", "junit="] {
        assert!(
            outputs.lines().any(|line| line.starts_with(name)),
            "{outputs}"
        );
    }
    assert!(folder.path().join("github-summary").exists());
}
