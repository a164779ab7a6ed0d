//! Versions of a package, each as a change: `--bisect 'torch==2.6,2.7,2.8'`.

use anyhow::{Result, bail};

/// A package with the versions to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Versions {
    pub package: String,
    /// In the user's order, the oldest first.
    pub versions: Vec<String>,
}

/// One version of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PackageVersion {
    pub package: String,
    pub version: String,
    /// Which `--bisect` it is of.
    pub bisection: usize,
}

const EXAMPLE: &str =
    "--bisect wants a package and its versions, oldest first: --bisect 'torch==2.6,2.7,2.8'";

impl Versions {
    pub(super) fn parse(text: &str) -> Result<Versions> {
        let Some((package, versions)) = text.split_once("==") else {
            bail!("{EXAMPLE}");
        };
        let package = package.trim();
        let versions: Vec<String> = versions
            .split(',')
            .map(|version| version.trim().to_owned())
            .collect();
        let has_only = |text: &str, extra: &str| {
            let starts = text.starts_with(|c: char| c.is_ascii_alphanumeric());
            let plain = |c: char| c.is_ascii_alphanumeric() || extra.contains(c);
            starts && text.chars().all(plain)
        };
        // They become arguments of pip and names of directories.
        if !has_only(package, "-_.[]") || !versions.iter().all(|it| has_only(it, ".+!-_")) {
            bail!("{EXAMPLE}");
        }
        Ok(Versions {
            package: package.to_owned(),
            versions,
        })
    }
}

impl PackageVersion {
    /// `torch==2.6`
    pub(super) fn requirement(&self) -> String {
        format!("{}=={}", self.package, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_and_its_versions() {
        let versions = Versions::parse("torch==2.6, 2.7.1+cpu,2.8").unwrap();
        assert_eq!(versions.package, "torch");
        assert_eq!(versions.versions, ["2.6", "2.7.1+cpu", "2.8"]);
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in [
            "torch",
            "torch==",
            "==2.6",
            "torch==2.6,,2.7",
            "torch==--pre",
            "../x==1",
        ] {
            assert!(Versions::parse(text).is_err(), "{text}");
        }
    }
}
