//! The Python that runs the job: where it finds packages, and how much disk a package takes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use leveloff_model::units::Bytes;
use serde::Deserialize;

/// A Python, as it describes itself.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Interpreter {
    /// Its own path.
    pub executable: PathBuf,
    /// `3.11`.
    pub version: String,
    /// Where it finds packages.
    pub site_packages: Vec<PathBuf>,
    /// What the package and all that it requires take; `None` if it is not installed.
    size: Option<u64>,
}

/// Prints a line of JSON. A package that cannot be read counts as not installed.
const DESCRIBE: &str = r#"
import json, re, site, sys
from importlib import metadata

def size(name, seen):
    name = re.sub(r"[-_.]+", "-", name).lower()
    if name in seen:
        return 0
    seen.add(name)
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return 0
    own = 0
    for file in package.files or []:
        try:
            own += file.locate().stat().st_size
        except OSError:
            pass
    required = [r for r in package.requires or [] if "extra ==" not in r]
    return own + sum(size(re.match(r"[\w.-]+", r).group(), seen) for r in required)

paths = [p for p in site.getsitepackages() + [site.getusersitepackages()] if p in sys.path]
print(json.dumps({
    "executable": sys.executable,
    "version": "%d.%d" % sys.version_info[:2],
    "site_packages": paths,
    "size": size(sys.argv[1], set()) or None,
}))
"#;

impl Interpreter {
    /// Asks a Python about itself and a package.
    pub(super) fn describe(python: &OsStr, package: &str) -> Result<Interpreter> {
        let shown = Path::new(python).display();
        let asked = Command::new(python)
            .args(["-c", DESCRIBE, package])
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {shown}"))?;
        if !asked.status.success() {
            let error = String::from_utf8_lossy(&asked.stderr);
            bail!(
                "{shown} does not say where its packages are: {}",
                error.lines().last().unwrap_or("no message")
            );
        }
        let text = String::from_utf8_lossy(&asked.stdout);
        let last = text.lines().last().unwrap_or_default();
        serde_json::from_str(last)
            .with_context(|| format!("{shown} does not say where its packages are"))
    }

    /// What a version of the package takes, as far as the installed one tells.
    pub(super) fn size(&self) -> Option<Bytes> {
        self.size.map(Bytes)
    }
}
