//! Imports between the top-level modules of a crate, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Which module imports which.
#[derive(Debug, Default, PartialEq)]
pub struct Imports(BTreeMap<String, BTreeSet<String>>);

impl Imports {
    /// Of every source file below `src`.
    pub fn of_crate(src: &Path) -> Imports {
        let mut files = Vec::new();
        collect(src, &mut Vec::new(), &mut files);
        let files = files.iter();
        Imports::of_files(files.map(|(path, text)| (path.as_slice(), text.as_str())))
    }

    /// Of files, each with its module path: `["guard", "stop"]` is `guard/stop.rs`. The root imports every module, and
    /// tests may import anything, so both are left out.
    pub fn of_files<'a>(files: impl Iterator<Item = (&'a [String], &'a str)> + Clone) -> Imports {
        let top: BTreeSet<&str> = files.clone().map(|(path, _)| path[0].as_str()).collect();
        let mut imports = Imports::default();
        for (path, text) in files {
            let is_test = path.iter().any(|module| module.ends_with("tests"));
            if is_test || is_root(path) {
                continue;
            }
            for name in imported(&without_tests(text), path.len()) {
                if name != path[0] && top.contains(name.as_str()) {
                    imports.insert(&path[0], name);
                }
            }
        }
        imports
    }

    /// Every module that imports `module`.
    pub fn importers(&self, module: &str) -> Vec<&str> {
        let importers = self.0.iter().filter(|(_, to)| to.contains(module));
        importers.map(|(from, _)| from.as_str()).collect()
    }

    /// Groups of modules that import each other, directly or through others.
    pub fn cycles(&self) -> Vec<BTreeSet<&str>> {
        let mut groups: Vec<BTreeSet<&str>> = Vec::new();
        for module in self.0.keys() {
            let group: BTreeSet<&str> = self
                .reachable(module)
                .into_iter()
                .filter(|other| self.reachable(other).contains(module.as_str()))
                .collect();
            if !group.is_empty() && !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups
    }

    /// The shortest way from a module of the group back to itself: `a → b → a`.
    pub fn in_words(&self, group: &BTreeSet<&str>) -> String {
        let start = *group.first().expect("a group has modules");
        let mut ways = vec![vec![start]];
        loop {
            let mut longer = Vec::new();
            for way in &ways {
                for next in self.0.get(way[way.len() - 1]).into_iter().flatten() {
                    if next == start {
                        return [way.as_slice(), &[start]].concat().join(" → ");
                    }
                    if group.contains(next.as_str()) && !way.contains(&next.as_str()) {
                        longer.push([way.as_slice(), &[next.as_str()]].concat());
                    }
                }
            }
            ways = longer;
        }
    }

    fn insert(&mut self, from: &str, to: String) {
        self.0.entry(from.to_owned()).or_default().insert(to);
    }

    fn reachable(&self, module: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> = vec![module];
        while let Some(from) = open.pop() {
            for to in self.0.get(from).into_iter().flatten() {
                if found.insert(to.as_str()) {
                    open.push(to);
                }
            }
        }
        found
    }
}

fn is_root(path: &[String]) -> bool {
    path.len() == 1 && matches!(path[0].as_str(), "lib" | "main")
}

fn collect(folder: &Path, path: &mut Vec<String>, files: &mut Vec<(Vec<String>, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap().path();
        path.push(entry.file_stem().unwrap().to_string_lossy().into_owned());
        if entry.is_dir() {
            collect(&entry, path, files);
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            files.push((path.clone(), std::fs::read_to_string(&entry).unwrap()));
        }
        path.pop();
    }
}

/// Without comments, and without the tests, which stand last in a file.
fn without_tests(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    let lines = text[..end].lines();
    lines
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The first names behind `crate::`, and behind as many `super::` as lead to the root from a module `depth` levels
/// below it.
fn imported(text: &str, depth: usize) -> Vec<String> {
    let to_root = "super::".repeat(depth);
    let is_start = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':')
    };
    ["crate::", &to_root]
        .into_iter()
        .flat_map(|prefix| {
            let found = text.match_indices(prefix).filter(|(at, _)| is_start(*at));
            found.flat_map(|(at, _)| first_names(&text[at + prefix.len()..]))
        })
        .collect()
}

/// `a::b` begins with a; `{a::{b, c}, d}` with a and d.
fn first_names(path: &str) -> Vec<String> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let mut names = vec![name(group)];
    let mut depth = 0_u32;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name(&group[at + 1..])),
            _ => {}
        }
    }
    names
}

fn name(text: &str) -> String {
    let text = text.trim_start();
    text.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}
