//! Paths in a source: those of `use` declarations, and those that other code writes out.

use std::collections::BTreeMap;

/// The names of a path: `["super", "guard", "Guard"]`.
pub type UsePath = Vec<String>;

/// Every path that a source imports or writes out from `crate`, `self` or `super`.
pub fn paths(text: &str) -> Vec<UsePath> {
    let written = ["crate::", "self::", "super::"].into_iter();
    let written = written.flat_map(|start| {
        let found = text.match_indices(start);
        let found = found.filter(|(at, _)| begins_a_path(text, *at));
        found.map(|(at, _)| leading_path(&text[at..]))
    });
    declarations(text)
        .map(|(path, _)| path)
        .chain(written)
        .collect()
}

/// What `use` declarations bring into a module, by the names that they have there.
pub fn uses(text: &str) -> BTreeMap<String, UsePath> {
    let named = declarations(text).map(|(path, name)| (name, path));
    named.collect()
}

/// Every path of the `use` declarations, with the name that it gives.
fn declarations(text: &str) -> impl Iterator<Item = (UsePath, String)> {
    let found = text.match_indices("use ");
    let found = found.filter(|(at, _)| begins_a_declaration(text, *at));
    found.flat_map(|(at, word)| {
        let tree = &text[at + word.len()..];
        let end = tree.find(';').unwrap_or(tree.len());
        expanded(&[], &tree[..end])
    })
}

/// Only a visibility may stand in front of it in its line.
fn begins_a_declaration(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default().trim();
    line.is_empty() || (line.starts_with("pub") && !line.contains([';', '{']))
}

fn begins_a_path(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':')
}

/// `a::{b::{c, d}, e as f}` is a::b::c, a::b::d and a::e, which is called f.
fn expanded(above: &[String], tree: &str) -> Vec<(UsePath, String)> {
    let Some((start, group)) = tree.split_once('{') else {
        return leaf(above, tree).into_iter().collect();
    };
    let above = [above, &names(start)].concat();
    let parts = parts(group).into_iter();
    parts.flat_map(|part| expanded(&above, part)).collect()
}

/// The parts of a group, up to the brace that closes it.
fn parts(group: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0_u32, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' => {
                parts.push(&group[begin..at]);
                break;
            }
            ',' if depth == 0 => {
                parts.push(&group[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts
}

/// One path. `self` in a group and `*` name the module itself.
fn leaf(above: &[String], path: &str) -> Option<(UsePath, String)> {
    let (path, alias) = match path.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim())),
        None => (path, None),
    };
    let mut path = [above, &names(path)].concat();
    if path.len() > 1
        && path
            .last()
            .is_some_and(|last| last == "self" || last == "*")
    {
        path.pop();
    }
    let name = alias.or(path.last().map(String::as_str))?.to_owned();
    Some((path, name))
}

fn names(path: &str) -> Vec<String> {
    let names = path.split("::").map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The path at the beginning of a text, which may go on with anything.
fn leading_path(text: &str) -> UsePath {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    names(&text[..end])
}
