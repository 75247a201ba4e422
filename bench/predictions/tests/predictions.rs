//! The tables of predictions, from one kernel measured once.

use std::process::Command;

#[test]
fn predictions_stand_beside_what_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_predictions"))
        .args(["--kernels", "fib"])
        .args(["--runtimes", "libgomp", "--repeat", "1"])
        .env("XDG_CACHE_HOME", folder.path())
        .env("WORKSPAN_NO_PERF", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if ["no runtime can be used", "only one CPU"]
        .iter()
        .any(|why| said.contains(why))
    {
        let line = format!("skipped: bench predictions: {said}");
        std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes()).unwrap();
        return;
    }
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8_lossy(&output.stdout);
    let row = |start: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with(start));
        let line = line.unwrap_or_else(|| panic!("no `{start}` in {text}"));
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let fix = row("| fine -> coarse recursion | GNU OpenMP | tuning |");
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    let (before, predicted) = (number(&fix[8]), number(&fix[9]));
    assert!(before > 1.0 && predicted > 1.0, "{fix:?}");
    let kernel = row("| fib | GNU OpenMP | tuning |");
    assert!(
        number(&kernel[4]) > 0.0 && number(&kernel[5]) > 0.0,
        "{kernel:?}"
    );
    assert!(kernel[6].ends_with(" %"), "{kernel:?}");
    // fib is for tuning, so nothing judges.
    assert_eq!(row("| span after a fix |")[2], "-");
    assert_ne!(row("| span after a fix |")[3], "-");
}
