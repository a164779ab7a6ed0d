//! Imports between the modules of a crate, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::paths::{UsePath, paths, uses};

/// A module as the names that lead to it from the root, which has none.
type ModulePath = Vec<String>;

/// Which module imports which, among the modules below the same parent.
#[derive(Debug, Default, PartialEq)]
pub struct Imports(BTreeMap<ModulePath, Siblings>);

/// Modules below one parent, and which of them each imports.
type Siblings = BTreeMap<String, BTreeSet<String>>;

/// The sources of a crate, without its tests.
struct Sources<'a> {
    texts: BTreeMap<&'a [String], String>,
    /// What each module imports, by the name that it has there.
    names: BTreeMap<&'a [String], BTreeMap<String, UsePath>>,
}

impl Imports {
    /// Of every source file below `src`.
    pub fn of_crate(src: &Path) -> Imports {
        let mut files = Vec::new();
        collect(src, &mut Vec::new(), &mut files);
        let files = files.iter();
        Imports::of_files(files.map(|(path, text)| (path.as_slice(), text.as_str())))
    }

    /// Of files, each with its module path: `["guard", "stop"]` is `guard/stop.rs`, `["lib"]` the root. Tests may import
    /// anything, so they are left out.
    pub fn of_files<'a>(files: impl Iterator<Item = (&'a [String], &'a str)>) -> Imports {
        let sources = Sources::of(files);
        let mut imports = Imports::default();
        for (module, text) in &sources.texts {
            for path in paths(text) {
                if let Some(target) = sources.target(module, &path) {
                    imports.add(module, target);
                }
            }
        }
        imports
    }

    /// Every top-level module that imports the top-level module `module`.
    pub fn importers(&self, module: &str) -> Vec<&str> {
        let top = self.0.get(&Vec::new()).into_iter().flatten();
        let importers = top.filter(|(_, to)| to.contains(module));
        importers.map(|(from, _)| from.as_str()).collect()
    }

    /// The shortest way back to itself for every group of siblings that import each other: `a::x → a::y → a::x`.
    pub fn cycles(&self) -> Vec<String> {
        let of_parent = |(parent, siblings): (&ModulePath, &Siblings)| -> Vec<String> {
            let whole = |name: &str| [parent.as_slice(), &[name.to_owned()]].concat().join("::");
            let ways = groups(siblings).into_iter();
            let ways = ways.map(|group| shortest_way(siblings, &group).into_iter().map(whole));
            ways.map(|way| way.collect::<Vec<_>>().join(" → "))
                .collect()
        };
        self.0.iter().flat_map(of_parent).collect()
    }

    /// An import leads from the child of the nearest common parent to another of its children.
    fn add(&mut self, from: &[String], to: &[String]) {
        let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        if let (Some(here), Some(there)) = (from.get(common), to.get(common)) {
            let siblings = self.0.entry(from[..common].to_vec()).or_default();
            siblings
                .entry(here.clone())
                .or_default()
                .insert(there.clone());
        }
    }
}

impl<'a> Sources<'a> {
    fn of(files: impl Iterator<Item = (&'a [String], &'a str)>) -> Sources<'a> {
        let is_test = |module: &String| module.ends_with("tests");
        let texts: BTreeMap<&[String], String> = files
            .filter(|(path, _)| !path.iter().any(is_test))
            .map(|(path, text)| (if is_root(path) { &[] } else { path }, without_tests(text)))
            .collect();
        let names = texts.iter().map(|(module, text)| (*module, uses(text)));
        Sources {
            names: names.collect(),
            texts,
        }
    }

    /// The module in which the item is that `path` in `module` names, through re-exports; `None` if it is in another crate.
    fn target(&self, module: &[String], path: &[String]) -> Option<&'a [String]> {
        self.target_of(module, path, &mut BTreeSet::new())
    }

    fn target_of(
        &self,
        module: &[String],
        path: &[String],
        seen: &mut BTreeSet<(ModulePath, String)>,
    ) -> Option<&'a [String]> {
        let (mut at, rest) = start(module, path)?;
        let is_relative = rest.len() == path.len();
        for (number, name) in rest.iter().enumerate() {
            let below = [at.as_slice(), std::slice::from_ref(name)].concat();
            if self.texts.contains_key(below.as_slice()) {
                at = below;
                continue;
            }
            let imported = self.names.get(at.as_slice())?.get(name);
            if let Some(imported) = imported
                && seen.insert((at.clone(), name.clone()))
            {
                return self.target_of(&at, imported, seen);
            }
            // A path that begins with neither `crate` nor a module begins with another crate.
            if is_relative && number == 0 {
                return None;
            }
            break;
        }
        self.texts.get_key_value(at.as_slice()).map(|(at, _)| *at)
    }
}

/// From where a path leads, and the names that follow `crate`, `self` or `super`.
fn start<'p>(module: &[String], path: &'p [String]) -> Option<(ModulePath, &'p [String])> {
    match path.first()?.as_str() {
        "crate" => Some((Vec::new(), &path[1..])),
        "self" => Some((module.to_vec(), &path[1..])),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            let above = module.len().checked_sub(up)?;
            Some((module[..above].to_vec(), &path[up..]))
        }
        _ => Some((module.to_vec(), path)),
    }
}

/// Groups of modules that import each other, directly or through others.
fn groups(siblings: &Siblings) -> Vec<BTreeSet<&str>> {
    let mut groups: Vec<BTreeSet<&str>> = Vec::new();
    for module in siblings.keys() {
        let group: BTreeSet<&str> = reachable(siblings, module)
            .into_iter()
            .filter(|other| reachable(siblings, other).contains(module.as_str()))
            .collect();
        if !group.is_empty() && !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

fn reachable<'a>(siblings: &'a Siblings, module: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![module];
    while let Some(from) = open.pop() {
        for to in siblings.get(from).into_iter().flatten() {
            if found.insert(to.as_str()) {
                open.push(to);
            }
        }
    }
    found
}

/// From a module of the group back to itself.
fn shortest_way<'a>(siblings: &'a Siblings, group: &BTreeSet<&'a str>) -> Vec<&'a str> {
    let start = *group.first().expect("a group has modules");
    let mut ways = vec![vec![start]];
    loop {
        let mut longer = Vec::new();
        for way in &ways {
            for next in siblings.get(way[way.len() - 1]).into_iter().flatten() {
                if next == start {
                    return [way.as_slice(), &[start]].concat();
                }
                if group.contains(next.as_str()) && !way.contains(&next.as_str()) {
                    longer.push([way.as_slice(), &[next.as_str()]].concat());
                }
            }
        }
        ways = longer;
    }
}

fn is_root(path: &[String]) -> bool {
    path.len() == 1 && matches!(path[0].as_str(), "lib" | "main")
}

fn collect(folder: &Path, path: &mut ModulePath, files: &mut Vec<(ModulePath, String)>) {
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
