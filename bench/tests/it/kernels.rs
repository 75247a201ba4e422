//! Every kernel checks its own result; here each runs once, with small input, with two grains.

use std::process::Command;

fn succeeds(binary: &str, arguments: &[&str], says: &str) {
    let output = Command::new(binary)
        .args(arguments)
        .output()
        .expect("the kernel starts");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{arguments:?}: {out}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(out.contains(says), "{arguments:?}: {out}");
}

#[test]
fn kernels_check_their_results() {
    succeeds(env!("CARGO_BIN_EXE_fib"), &["20", "2"], "fib(20) = 6765");
    succeeds(env!("CARGO_BIN_EXE_fib"), &["20", "12"], "fib(20) = 6765");
    succeeds(
        env!("CARGO_BIN_EXE_nqueens"),
        &["8", "8"],
        "nqueens(8) = 92",
    );
    succeeds(
        env!("CARGO_BIN_EXE_nqueens"),
        &["9", "3"],
        "nqueens(9) = 352",
    );
    for merge in ["serial", "parallel"] {
        succeeds(
            env!("CARGO_BIN_EXE_msort"),
            &["50001", "100", "--merge", merge],
            "sorted 50001 numbers",
        );
        succeeds(
            env!("CARGO_BIN_EXE_msort"),
            &["3", "2", "--merge", merge],
            "sorted 3 numbers",
        );
    }
    for read in ["serial", "parallel"] {
        succeeds(
            env!("CARGO_BIN_EXE_records"),
            &["5001", "100", "3", "--read", read],
            "read 5001 records",
        );
    }
    succeeds(
        env!("CARGO_BIN_EXE_matmul"),
        &["65", "8"],
        "multiplied 65 x 65",
    );
    succeeds(
        env!("CARGO_BIN_EXE_matmul"),
        &["32", "32"],
        "multiplied 32 x 32",
    );
    succeeds(
        env!("CARGO_BIN_EXE_sparselu"),
        &["8", "6"],
        "factorised 8 x 8 blocks",
    );
    succeeds(
        env!("CARGO_BIN_EXE_align"),
        &["30", "4", "40"],
        "aligned 30 sequences",
    );
    succeeds(
        env!("CARGO_BIN_EXE_fft"),
        &["9", "16"],
        "transformed 512 numbers",
    );
    succeeds(env!("CARGO_BIN_EXE_pipeline"), &["20000", "16"], "kept ");
    succeeds(
        env!("CARGO_BIN_EXE_treesum"),
        &["12", "3"],
        "sum of 8191 nodes",
    );
}

#[test]
fn a_wrong_argument_is_a_usage_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_fib"))
        .arg("many")
        .output()
        .expect("fib starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("usage: fib [N=32] [GRAIN=2]"));
}
