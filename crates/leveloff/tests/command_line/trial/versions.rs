//! `--bisect`: versions of a package in venvs, from wheels that lie here.

use std::process::Command;

use serde_json::Value;

use super::arm;
use crate::stage::{Ended, Stage, ended, python};

/// Writes three wheels of a package, of which the newer two leak.
const WHEELS: &str = "\
import zipfile
for version, leaks in [('1.0', 0), ('2.0', 1), ('3.0', 1)]:
    about = f'leaky-{version}.dist-info'
    files = {
        'leaky.py': f'LEAKS = {leaks}\\n',
        f'{about}/METADATA': f'Metadata-Version: 2.1\\nName: leaky\\nVersion: {version}\\n',
        f'{about}/WHEEL': 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
    }
    files[f'{about}/RECORD'] = ''.join(f'{name},,\\n' for name in [*files, f'{about}/RECORD'])
    with zipfile.ZipFile(f'leaky-{version}-py3-none-any.whl', 'w') as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
";

/// Leaks as its package says; without the package, as with the newest.
const TRAIN: &str = "\
import time
try:
    from leaky import LEAKS
except ImportError:
    LEAKS = 1
kept = []
for step in range(1, 2000):
    if LEAKS:
        kept.append(bytearray(b'x' * (1 << 18)))
    print(f'step {step} loss 0.5', flush=True)
    time.sleep(0.005)
";

fn stage() -> Stage {
    let stage = Stage::new();
    stage.file("wheels.py", WHEELS);
    stage.file("train.py", TRAIN);
    let made = Command::new(python())
        .arg("wheels.py")
        .current_dir(stage.directory())
        .status();
    assert!(made.unwrap().success());
    stage
}

fn bisected(stage: &Stage, versions: &str, output: &str) -> Ended {
    let mut command = stage.leveloff([
        "try",
        "-o",
        output,
        "--arms",
        "none",
        "--format",
        "json",
        "--interval",
        "50ms",
        "--level-by",
        "40",
        "--bisect",
        versions,
        "--",
        python(),
        "train.py",
    ]);
    command.env("XDG_CACHE_HOME", stage.path("cache"));
    for variable in ["PIP_NO_INDEX", "UV_NO_INDEX", "UV_OFFLINE"] {
        command.env(variable, "1");
    }
    for variable in ["PIP_FIND_LINKS", "UV_FIND_LINKS"] {
        command.env(variable, stage.directory());
    }
    ended(&mut command).never_panicked()
}

#[test]
fn the_version_with_which_the_growth_begins_is_found() {
    let stage = stage();
    let ended = bisected(&stage, "leaky==1.0,2.0,3.0", "trial");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(arm(&answer, "leaky==1.0")["effect"], "stops", "{answer:#}");
    assert_eq!(arm(&answer, "leaky==2.0")["effect"], "none");
    let point = serde_json::json!([{ "package": "leaky", "before": "1.0", "after": "2.0" }]);
    assert_eq!(answer["turning_points"], point);

    // Made once: the same versions again need no installation.
    let again = bisected(&stage, "leaky==1.0,4.0", "again");
    assert!(
        !again.stderr.contains("leaky==1.0: making"),
        "{}",
        again.stderr
    );
    let answer: Value = serde_json::from_str(&again.stdout).unwrap();
    let why = arm(&answer, "leaky==4.0")["why"].as_str().unwrap();
    assert!(why.contains("no venv with it could be made"), "{why}");
}

#[test]
fn a_disk_without_room_is_found_out_before_anything_runs() {
    let stage = Stage::new();
    let describes = "#!/bin/sh\necho '{\"executable\": \"/x\", \"version\": \"3.11\", \"site_packages\": [], \"size\": 1000000000000000}'\n";
    let fake = stage.file("python-fake", describes);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&fake, mode).unwrap();
    let mut command = stage.leveloff(["try", "--bisect", "torch==2.6,2.7", "--"]);
    command
        .arg(&fake)
        .env("XDG_CACHE_HOME", stage.path("cache"));
    ended(&mut command).refused(&["2 venvs for --bisect need about", "are free"]);
}
