//! A JSON object as a row: its numbers and strings, those of objects within it by dotted names.

use std::io::Write;

use serde_json::{Map, Value};

use super::Row;

/// Deeper than any log nests its numbers.
const DEEPEST: usize = 4;

/// Fills the row with the fields of these names. No field at all when the line is no object.
pub fn split(line: &[u8], keys: &[String], row: &mut Row) {
    row.text.clear();
    let Ok(object) = serde_json::from_slice::<Map<String, Value>>(line) else {
        return;
    };
    for key in keys {
        let start = row.text.len();
        if let Some(value) = lookup(&object, key) {
            write_value(&mut row.text, value);
        }
        row.bounds.push((start, row.text.len()));
    }
}

/// The names of a line's fields, sorted, added to `keys`. False when it is no object.
pub fn gather_keys(line: &[u8], keys: &mut Vec<String>) -> bool {
    let Ok(object) = serde_json::from_slice::<Map<String, Value>>(line) else {
        return false;
    };
    gather(&object, "", 0, keys);
    true
}

fn gather(object: &Map<String, Value>, prefix: &str, depth: usize, keys: &mut Vec<String>) {
    // Which of two equally good columns is read must not depend on serde_json's feature `preserve_order`, which another
    // crate of the program may switch on.
    let mut fields: Vec<(&String, &Value)> = object.iter().collect();
    fields.sort_by_key(|(key, _)| *key);
    for (key, value) in fields {
        let name = format!("{prefix}{key}");
        match value {
            Value::Object(inner) if depth < DEEPEST => {
                gather(inner, &format!("{name}."), depth + 1, keys);
            }
            Value::Number(_) | Value::String(_) if !keys.contains(&name) => keys.push(name),
            _ => {}
        }
    }
}

/// A name may hold dots of its own, so the longest match of a key goes first.
fn lookup<'v>(object: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    if let Some(value) = object.get(path) {
        return Some(value);
    }
    path.match_indices('.').rev().find_map(|(at, _)| {
        let inner = object.get(&path[..at])?.as_object()?;
        lookup(inner, &path[at + 1..])
    })
}

fn write_value(text: &mut Vec<u8>, value: &Value) {
    match value {
        Value::String(word) => text.extend_from_slice(word.as_bytes()),
        Value::Number(number) => {
            write!(text, "{number}").expect("writing to memory");
        }
        _ => {}
    }
}
