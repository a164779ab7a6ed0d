//! Marks, settings and the terminal.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Check, Machine};
use crate::config::ConfigChoice;

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    vec![
        marks(machine),
        config(machine),
        terminal(machine),
        encoding(machine),
        clock(machine),
        blame(machine),
    ]
}

fn blame(machine: &Machine) -> Check {
    let name = "blame";
    match leveloff_blame::preload::check() {
        Ok(()) => Check::ok(name, blame_works(&machine.root)),
        Err(error) => Check::missing(
            name,
            error.to_string(),
            "set TMPDIR to a directory on a file system that is not mounted noexec",
        ),
    }
}

/// What works, and whether a program that runs already can be asked: that takes the rights of a debugger.
fn blame_works(root: &Path) -> String {
    let works = "leveloff run --blame can name lines here";
    let scope = fs::read_to_string(root.join("proc/sys/kernel/yama/ptrace_scope"));
    match scope.as_deref().map(str::trim) {
        Err(_) | Ok("0") => works.to_owned(),
        Ok(scope) => {
            format!("{works}; blame --pid needs root (kernel.yama.ptrace_scope={scope})")
        }
    }
}

fn marks(machine: &Machine) -> Check {
    let name = "marks";
    if let Some(place) = machine.variable("LEVELOFF_MARKS") {
        return Check::ok(name, format!("LEVELOFF_MARKS points at {place}"));
    }
    let directory = marks_directory(machine);
    let shown = directory.display();
    match unsafe_because(&directory, machine.uid) {
        Ok(None) => Check::ok(name, format!("read from {shown}")),
        Ok(Some(why)) => Check::gap(
            name,
            format!("{shown} {why}; marks in it are ignored"),
            format!("chmod 700 {shown}, or move it away if it is not yours"),
        ),
        Err(_) => Check {
            next: Some(GET_MARKS.to_owned()),
            ..Check::ok(name, format!("none yet; they will be in {shown}"))
        },
    }
}

/// How to get marks.
const GET_MARKS: &str = "pip install leveloff in the training's environment: it reports steps, tensors and \
                         malloc's memory; see docs/PYTHON.md";

/// Where writers look first, whatever `XDG_RUNTIME_DIR` says: that is removed when its user logs out.
fn marks_directory(machine: &Machine) -> PathBuf {
    machine.root.join(format!("tmp/leveloff-{}", machine.uid))
}

/// Why others could write marks there. A link is not followed: in /tmp, any user can place one.
fn unsafe_because(directory: &Path, uid: u32) -> std::io::Result<Option<&'static str>> {
    let found = fs::symlink_metadata(directory)?;
    Ok(if !found.is_dir() {
        Some("is not a directory")
    } else if found.uid() != uid {
        Some("belongs to another user")
    } else if found.mode() & 0o077 != 0 {
        Some("is open to other users")
    } else {
        None
    })
}

fn config(machine: &Machine) -> Check {
    let name = "config";
    let finding = match machine.config_search.find(&machine.config) {
        Ok(finding) => finding,
        Err(error) => return Check::gap(name, error.to_string(), "see docs/CONFIG.md"),
    };
    let used = match &finding.config {
        Some(config) => format!("{} applies", config.file().display()),
        None if machine.config == ConfigChoice::Nothing => "switched off".to_owned(),
        None => "no leveloff.toml and no [tool.leveloff] applies".to_owned(),
    };
    match finding.passed_over.first() {
        None => Check::ok(name, used),
        Some(passed) => {
            let (file, why) = (passed.file.display(), &passed.why);
            let text = format!("{used}; {file} is not used: {why}");
            Check::gap(name, text, passed.next)
        }
    }
}

/// The smallest screen that the dashboard is laid out for.
const SMALLEST_SCREEN: (u16, u16) = (80, 24);

fn terminal(machine: &Machine) -> Check {
    let name = "terminal";
    match machine.terminal {
        None => Check::gap(
            name,
            "the output is not a terminal; the dashboard needs one, everything else does not",
            "use leveloff run, record and export",
        ),
        Some((columns, rows)) if columns < SMALLEST_SCREEN.0 || rows < SMALLEST_SCREEN.1 => {
            Check::gap(
                name,
                format!("{columns}×{rows} is small; parts of the dashboard are left out"),
                "80×24 shows all of it",
            )
        }
        Some((columns, rows)) => Check::ok(name, format!("{columns}×{rows}")),
    }
}

fn encoding(machine: &Machine) -> Check {
    let name = "encoding";
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|variable| machine.variable(variable));
    let utf8 = |locale: &str| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    match locale {
        Some(locale) if utf8(locale) => Check::ok(name, locale),
        other => Check::gap(
            name,
            format!(
                "locale {} is not UTF-8; curves and names may be printed wrong",
                other.unwrap_or("unset")
            ),
            "export LANG=C.UTF-8",
        ),
    }
}

/// A clock coarser than this would blur a tick.
const COARSE_CLOCK_NS: u64 = 1_000_000;

fn clock(machine: &Machine) -> Check {
    let text = format!(
        "monotonic clock to {} ns; CPU time in steps of {} ms",
        machine.clock_ns,
        1000 / machine.ticks_per_second.max(1)
    );
    if machine.clock_ns > COARSE_CLOCK_NS {
        Check::gap("clock", text, "a kernel with high-resolution timers")
    } else {
        Check::ok("clock", text)
    }
}
