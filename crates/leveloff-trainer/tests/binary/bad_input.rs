//! What cannot be done is said at once, with the next step.

use crate::trainer::{Home, stderr};

fn check(home: &Home, arguments: &str, words: &[&str]) {
    let output = home.run(arguments);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
    assert!(
        output.stdout.is_empty(),
        "{arguments} trained before it failed"
    );
    assert!(error.starts_with("leveloff-trainer: "), "{error}");
    for part in words {
        assert!(error.contains(part), "{arguments}: no '{part}' in: {error}");
    }
}

#[test]
fn each_mistake_is_named_with_what_would_do() {
    let home = Home::new();
    check(
        &home,
        "--pattern heathy",
        &["heathy", "a similar value exists: 'healthy'"],
    );
    check(&home, "--steps 0", &["--steps", "0 steps are too few"]);
    check(&home, "--resume", &["--checkpoint-dir"]);
    check(&home, "--resume /dev/zero", &["/dev/zero", "no checkpoint"]);
    check(
        &home,
        "--resume --checkpoint-dir CKPT",
        &["no checkpoint to resume from", "ckpt"],
    );
    check(
        &home,
        "--checkpoint-dir /proc/none",
        &["/proc/none", "pass a --checkpoint-dir"],
    );
    #[cfg(not(feature = "cuda"))]
    check(&home, "--device cuda", &["--features cuda"]);
}

#[test]
fn a_damaged_checkpoint_is_passed_over_and_one_of_another_seed_refused() {
    let home = Home::new();
    home.json_lines("--steps 4 --checkpoint-every 2 --checkpoint-dir CKPT");
    std::fs::write(home.path("ckpt/step-00000004.safetensors"), b"torn").expect("written");
    let output = home.run("--steps 5 --checkpoint-dir CKPT --resume");
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(
        said.contains("passing over") && said.contains("step-00000004"),
        "{said}"
    );
    check(
        &home,
        "--steps 6 --checkpoint-dir CKPT --resume --seed 2",
        &["pass --seed 1"],
    );
}
