//! A disk that is full while saving.

use std::process::Command;

use crate::trainer::Home;

/// In a mount namespace of its own there is a disk of 2 MiB: room for one checkpoint of 1.4 MB and
/// not for a second. Its content afterwards can be seen only from inside.
const INSIDE: &str = r#"
    mount -t tmpfs -o size=2M tmpfs "$1" || { echo no mount; exit 77; }
    "$2" --steps 6 --checkpoint-every 2 --checkpoint-dir "$1" --no-marks --format json
    echo "code $?"
    ls -A "$1"
"#;

#[test]
fn the_training_goes_on_and_leaves_nothing_half_written() {
    let home = Home::new();
    let disk = home.path("disk");
    std::fs::create_dir(&disk).expect("a directory");
    let output = Command::new("unshare")
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            INSIDE,
            "sh",
        ])
        .arg(&disk)
        .arg(env!("CARGO_BIN_EXE_leveloff-trainer"))
        .output();
    let Some(output) = output.ok().filter(|output| output.stdout.starts_with(b"{")) else {
        leveloff_testkit::cannot_run_here(
            "a disk of 2 MiB cannot be mounted here (unshare, mount)",
        );
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    // The first was saved; the next ones did not fit, and all steps were done all the same.
    assert!(text.contains(r#""event":"step","step":6"#), "{text}");
    assert!(
        said.contains("step-00000004") && said.contains("No space left"),
        "{said}"
    );
    assert!(said.contains("the training goes on"), "{said}");
    // The last could not be saved either, and that is a failure.
    assert!(
        text.ends_with("code 1\nstep-00000002.safetensors\n"),
        "{text}"
    );
}
