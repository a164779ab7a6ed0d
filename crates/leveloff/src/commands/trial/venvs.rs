//! Venvs with one version of a package each. All other packages are those of the job's own Python, so that one thing is
//! changed. They are kept and used again: `~/.cache/leveloff/venvs`.

use std::fs::{DirBuilder, File};
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use leveloff_model::units::Bytes;
use leveloff_supervise::termination_signals::{TerminationSignals, WaitResult};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use sha2::{Digest, Sha256};

use super::interpreter::Interpreter;
use super::job_log::last_line;
use super::versions::PackageVersion;
use crate::notice::notice;
use crate::status_line::StatusLine;

/// Where venvs are kept.
#[derive(Debug)]
pub(super) struct VenvStore(PathBuf);

/// How making a venv ended.
#[derive(Debug)]
pub(super) enum MadeVenv {
    Ready,
    /// Why not.
    Failed(String),
    Interrupted,
}

/// Installing needs room for the archive beside what it becomes.
const WITH_ARCHIVES: f64 = 1.5;

/// What a package takes that is not installed, so that its size is not known.
const UNKNOWN_SIZE: Bytes = Bytes(1 << 30);

/// How often the progress of an installation is shown.
const TURN: Duration = Duration::from_secs(1);

/// Written last: a venv without it was not finished.
const COMPLETE: &str = "leveloff-complete";

impl VenvStore {
    pub(super) fn of_user() -> Result<VenvStore> {
        let absolute = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        let cache = cache.context(
            "neither XDG_CACHE_HOME nor HOME names a directory for the venvs of --bisect",
        )?;
        Ok(VenvStore(cache.join("leveloff").join("venvs")))
    }

    /// The Python of a version, which may not exist yet. Venvs are apart by interpreter, because they use its packages.
    pub(super) fn python(&self, version: &PackageVersion, interpreter: &Interpreter) -> PathBuf {
        let mut digest = Sha256::new();
        digest.update(interpreter.executable.as_os_str().as_encoded_bytes());
        for path in &interpreter.site_packages {
            digest.update(b"\0");
            digest.update(path.as_os_str().as_encoded_bytes());
        }
        let digest = digest.finalize();
        let plain = |c: char| match c.is_ascii_alphanumeric() || "-_.+".contains(c) {
            true => c,
            false => '_',
        };
        let package: String = version.package.chars().map(plain).collect();
        let name = format!(
            "{package}-{}-py{}-{:02x}{:02x}{:02x}{:02x}",
            version.version, interpreter.version, digest[0], digest[1], digest[2], digest[3]
        );
        self.0.join(name).join("bin").join("python")
    }

    /// Refuses if the disk has no room for those that do not exist yet.
    pub(super) fn check_space<'a>(
        &self,
        interpreter: &Interpreter,
        versions: impl Iterator<Item = &'a PackageVersion>,
    ) -> Result<()> {
        let missing = versions.filter(|version| !is_complete(&self.python(version, interpreter)));
        let count = missing.count() as u64;
        if count == 0 {
            return Ok(());
        }
        self.prepare()?;
        let each = match interpreter.size() {
            Some(size) => Bytes((size.0 as f64 * WITH_ARCHIVES) as u64),
            None => UNKNOWN_SIZE,
        };
        let needed = Bytes(each.0.saturating_mul(count));
        let disk = rustix::fs::statvfs(&self.0)
            .with_context(|| format!("cannot read the free space of {}", self.0.display()))?;
        let free = Bytes(disk.f_bavail.saturating_mul(disk.f_frsize));
        if needed > free {
            bail!(
                "{count} venvs for --bisect need about {needed} in {}, and {free} are free; name fewer versions, or set \
                 XDG_CACHE_HOME to a directory on another disk",
                self.0.display()
            );
        }
        Ok(())
    }

    /// Makes the venv of a version, unless it exists.
    pub(super) fn make(
        &self,
        version: &PackageVersion,
        interpreter: &Interpreter,
        stops: &TerminationSignals,
    ) -> Result<MadeVenv> {
        let python = self.python(version, interpreter);
        if is_complete(&python) {
            return Ok(MadeVenv::Ready);
        }
        self.prepare()?;
        let venv = venv_of(&python);
        if venv.symlink_metadata().is_ok() {
            std::fs::remove_dir_all(venv)
                .with_context(|| format!("cannot remove the unfinished {}", venv.display()))?;
        }
        let requirement = version.requirement();
        notice(&format!(
            "{requirement}: making a venv in {}",
            venv.display()
        ));
        // The name has dots of its own.
        let log = PathBuf::from(format!("{}.log", venv.display()));
        let begun = Instant::now();
        let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        for mut step in steps(venv, interpreter, &requirement) {
            step.stdin(Stdio::null()).process_group(0);
            step.stdout(file.try_clone()?).stderr(file.try_clone()?);
            match run(&mut step, &requirement, &log, stops) {
                Ok(Some(true)) => {}
                Ok(Some(false)) => {
                    let why = last_line(&log).unwrap_or_else(|| "no message".to_owned());
                    let log = log.display();
                    return Ok(MadeVenv::Failed(format!(
                        "no venv with it could be made: `{why}`; all of it is in {log}"
                    )));
                }
                Ok(None) => return Ok(MadeVenv::Interrupted),
                Err(error) => return Ok(MadeVenv::Failed(format!("{error:#}"))),
            }
        }
        use_other_packages(venv, interpreter)?;
        std::fs::write(venv.join(COMPLETE), requirement.as_bytes())?;
        let spent = begun.elapsed().as_secs();
        notice(&format!("{requirement}: the venv is ready after {spent} s"));
        Ok(MadeVenv::Ready)
    }

    fn prepare(&self) -> Result<()> {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0);
        made.with_context(|| format!("cannot create {}", self.0.display()))
    }
}

fn is_complete(python: &Path) -> bool {
    python.exists() && venv_of(python).join(COMPLETE).is_file()
}

/// Two above `bin/python`.
fn venv_of(python: &Path) -> &Path {
    let bin = python.parent().unwrap_or(python);
    bin.parent().unwrap_or(bin)
}

/// The commands that make a venv: with uv, which is faster, or else with what Python brings.
fn steps(venv: &Path, interpreter: &Interpreter, requirement: &str) -> [Command; 2] {
    let python = venv.join("bin").join("python");
    if has_uv() {
        let (mut make, mut install) = (Command::new("uv"), Command::new("uv"));
        make.arg("venv")
            .arg("--python")
            .arg(&interpreter.executable);
        make.arg(venv);
        install.args(["pip", "install", "--python"]).arg(python);
        install.arg(requirement);
        return [make, install];
    }
    let (mut make, mut install) = (Command::new(&interpreter.executable), Command::new(python));
    make.args(["-m", "venv"]).arg(venv);
    install.args(["-m", "pip", "install", "--progress-bar=off", requirement]);
    [make, install]
}

fn has_uv() -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|directory| directory.join("uv").is_file())
}

/// Waits for a command; whether it succeeded, and `None` if the user ended the trial meanwhile.
fn run(
    command: &mut Command,
    requirement: &str,
    log: &Path,
    stops: &TerminationSignals,
) -> Result<Option<bool>> {
    let program = command.get_program().to_owned();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", Path::new(&program).display()))?;
    let pid = Pid::from_child(&child);
    let handle = pidfd_open(pid, PidfdFlags::empty()).context("cannot watch an installation")?;
    let (begun, mut status) = (Instant::now(), StatusLine::new());
    let is_interrupted = loop {
        match stops.wait_for(&[handle.as_fd()], Instant::now() + TURN)? {
            WaitResult::Other(_) => break false,
            WaitResult::Signal => break true,
            WaitResult::Deadline => status.show(|| {
                let line = last_line(log).unwrap_or_default();
                let spent = begun.elapsed().as_secs();
                format!("leveloff: {requirement}: making a venv, {spent} s · {line}")
            }),
        }
    };
    status.clear();
    if is_interrupted {
        // With what it has started to build a package.
        let _ = kill_process_group(pid, Signal::TERM);
    }
    let ended = child.wait()?;
    Ok((!is_interrupted).then(|| ended.success()))
}

/// Packages that the venv lacks come from the job's own Python, behind those of the venv.
fn use_other_packages(venv: &Path, interpreter: &Interpreter) -> Result<()> {
    let own = venv
        .join("lib")
        .join(format!("python{}", interpreter.version))
        .join("site-packages");
    let paths = interpreter.site_packages.iter();
    let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    // A list in JSON is one in Python as well.
    let paths = serde_json::to_string(&paths)?;
    let line = format!("import site; [site.addsitedir(path) for path in {paths}]\n");
    // Read after the venv's own `.pth` files.
    let file = own.join("zz-leveloff.pth");
    std::fs::write(&file, line).with_context(|| format!("cannot write {}", file.display()))
}
