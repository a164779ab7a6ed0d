//! The documentation against the product: every finding has a section, and every link leads somewhere.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail by panicking, in its functions as well"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use leveloff_classifier::finding::Finding;
use leveloff_classifier::known_bugs::KNOWN_BUGS;
use leveloff_text::known_bug::affected_versions;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// README, CONTRIBUTING and everything in docs.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let in_docs = docs
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let on_top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name));
    in_docs.chain(on_top).collect()
}

/// A page without its code blocks, where neither headings nor links count.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    let mut in_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What links such as `[text](page.md#section)` point at, without those to other sites.
fn link_targets(text: &str) -> Vec<&str> {
    let after_text = text.split("](").skip(1);
    after_text
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://"))
        .collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = prose(page);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#').trim()))
        .collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|character| character.is_alphanumeric() || " -_".contains(*character));
    kept.flat_map(char::to_lowercase)
        .map(|character| if character == ' ' { '-' } else { character })
        .collect()
}

/// Why a link on a page leads nowhere.
fn broken(page: &Path, target: &str) -> Option<String> {
    let (file, section) = target.split_once('#').unwrap_or((target, ""));
    let linked = match file {
        "" => page.to_owned(),
        file => page.parent().unwrap().join(file),
    };
    let is_missing =
        !linked.exists() || (!section.is_empty() && !anchors(&linked).contains(section));
    is_missing.then(|| format!("{}: {target}", page.display()))
}

#[test]
fn every_finding_has_a_section_and_every_section_a_finding() {
    let text = prose(&root().join("docs/FINDINGS.md"));
    let described: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let emitted: BTreeSet<&str> = Finding::NAMES.iter().copied().collect();
    let missing: Vec<_> = emitted.difference(&described).collect();
    let unknown: Vec<_> = described.difference(&emitted).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "docs/FINDINGS.md lacks {missing:?}, and describes {unknown:?}, which leveloff does not emit"
    );
}

#[test]
fn every_known_bug_has_its_row_and_every_row_its_bug() {
    let text = prose(&root().join("docs/FINDINGS.md"));
    let (_, section) = text.split_once("### Known bugs").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert_eq!(rows.len(), KNOWN_BUGS.len());
    for (bug, row) in KNOWN_BUGS.iter().zip(rows) {
        let start = format!(
            "| `{}` | {} | {} | {} | ",
            bug.name,
            bug.package,
            affected_versions(bug),
            bug.fixed_in.unwrap_or("–")
        );
        assert!(row.starts_with(&start), "{row} does not begin with {start}");
        assert!(row.contains(bug.link), "{row} lacks {}", bug.link);
        for finding in bug.signature.findings {
            assert!(row.contains(finding), "{row} lacks {finding}");
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    for page in pages() {
        let text = prose(&page);
        dead.extend(
            link_targets(&text)
                .into_iter()
                .filter_map(|target| broken(&page, target)),
        );
    }
    assert_eq!(dead, Vec::<String>::new());
}

#[test]
fn the_index_names_every_page() {
    let index = root().join("docs/README.md");
    let text = prose(&index);
    let linked = link_targets(&text);
    let forgotten: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| page.parent() == index.parent() && *page != index)
        .filter(|page| !linked.contains(&page.file_name().unwrap().to_str().unwrap()))
        .collect();
    assert_eq!(forgotten, Vec::<PathBuf>::new());
}
