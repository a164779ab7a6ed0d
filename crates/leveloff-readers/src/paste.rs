//! The numbers of a text that was pasted: a report with prose, quotes and code fences around a table or a log.
//!
//! A program prints one line like the other. The lines of which most are alike are what is meant, with the line above
//! them, which may name the columns.

use std::collections::HashMap;

/// A part of a text that may be a table or a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its lines.
    pub text: Vec<u8>,
    /// The first and the last line of the whole text that belong to it, from 1.
    pub lines: (usize, usize),
}

/// Fewer lines that are alike are no series.
const FEWEST_ALIKE: usize = 4;

/// The parts that may be meant, the likeliest first.
pub fn blocks(text: &[u8]) -> Vec<Block> {
    let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').map(unquoted).collect();
    let Some(alike) = most_alike(&lines) else {
        return Vec::new();
    };
    let first = header_above(&lines, alike[0]);
    let last = alike[alike.len() - 1];
    let part = |text: Vec<Vec<u8>>, first: usize| Block {
        text: text.join(&b'\n'),
        lines: (first + 1, last + 1),
    };
    let owned = |n: &usize| lines[*n].to_vec();
    let with_header = (first..alike[0]).chain(alike.iter().copied());
    let with_header: Vec<usize> = with_header.collect();
    let mut found = vec![
        part(with_header.iter().map(owned).collect(), first),
        part(alike.iter().map(owned).collect(), alike[0]),
    ];
    found.extend(aligned(&lines, &with_header).map(|text| part(text, first)));
    found.extend(bare_numbers(&lines, &alike).map(|text| part(text, alike[0])));
    found
}

/// A line without the signs of a quotation or a list in front of it.
fn unquoted(line: &[u8]) -> &[u8] {
    let mut line = line.strip_suffix(b"\r").unwrap_or(line);
    while let Some(rest) = line.trim_ascii_start().strip_prefix(b">") {
        line = rest.strip_prefix(b" ").unwrap_or(rest);
    }
    let listed = line.trim_ascii_start();
    [b"- ", b"* "]
        .iter()
        .find_map(|sign| listed.strip_prefix(*sign))
        .unwrap_or(line)
}

/// The numbers of the lines that are alike, where those are most of the lines with numbers.
fn most_alike(lines: &[&[u8]]) -> Option<Vec<usize>> {
    let mut shapes: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (n, line) in lines.iter().enumerate() {
        if line.iter().any(u8::is_ascii_digit) {
            shapes.entry(shape(line)).or_default().push(n);
        }
    }
    let most = shapes
        .into_values()
        .max_by_key(|alike| (alike.len(), std::cmp::Reverse(alike[0])));
    most.filter(|alike| alike.len() >= FEWEST_ALIKE)
}

/// A line with every number as a zero and every gap as one blank.
fn shape(line: &[u8]) -> Vec<u8> {
    let mut shape = Vec::with_capacity(line.len());
    for &byte in line.trim_ascii() {
        let sign = match byte {
            b'0'..=b'9' => b'0',
            b'\t' => b' ',
            other => other,
        };
        let last = shape.last().copied();
        let goes_on = last == Some(b'0') && b"0.,".contains(&sign);
        if !(goes_on || sign == b' ' && last == Some(b' ')) {
            shape.push(sign);
        }
    }
    shape
}

/// The lines right above that may name the columns: the head of a Markdown table and its rule, or one line.
fn header_above(lines: &[&[u8]], first: usize) -> usize {
    let is_piped = |n: usize| lines[n].trim_ascii_start().starts_with(b"|");
    if is_piped(first) {
        let mut from = first;
        while from > 0 && is_piped(from - 1) {
            from -= 1;
        }
        return from;
    }
    let is_name = |line: &[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"```");
    match first.checked_sub(1) {
        Some(above) if is_name(lines[above]) => above,
        _ => first,
    }
}

/// Columns that are set apart by two blanks or more, because a name in the header has one blank inside.
fn aligned(lines: &[&[u8]], numbers: &[usize]) -> Option<Vec<Vec<u8>>> {
    let split = |line: &[u8]| -> Vec<Vec<u8>> {
        let text = String::from_utf8_lossy(line).replace('\t', "  ");
        let fields = text.split("  ").map(str::trim);
        let fields = fields.filter(|field| !field.is_empty());
        fields.map(|field| field.as_bytes().to_vec()).collect()
    };
    let header = split(lines[*numbers.first()?]);
    let rows = numbers[1..].iter().map(|n| -> Vec<Vec<u8>> {
        let words = lines[*n].split(u8::is_ascii_whitespace);
        let words = words.filter(|word| !word.is_empty());
        words.map(<[u8]>::to_vec).collect()
    });
    let all: Vec<Vec<Vec<u8>>> = std::iter::once(header).chain(rows).collect();
    let is_table = all[0].len() > 1 && all.iter().all(|row| row.len() == all[0].len());
    is_table.then(|| all.iter().map(|row| row.join(&b'\t')).collect())
}

/// Lines of numbers alone, whatever stands between: `(0, 512)`, `10: 1,234,567`.
fn bare_numbers(lines: &[&[u8]], alike: &[usize]) -> Option<Vec<Vec<u8>>> {
    let is_bare = |n: &usize| !lines[*n].iter().any(u8::is_ascii_alphabetic);
    if !alike.iter().all(is_bare) {
        return None;
    }
    let row = |n: &usize| {
        let words = lines[*n].split(|&b| b.is_ascii_whitespace() || b"()[]{}:;=|".contains(&b));
        let numbers = words.map(without_groups).filter(|word| !word.is_empty());
        numbers.collect::<Vec<_>>().join(&b' ')
    };
    Some(alike.iter().map(row).collect())
}

/// A number without the commas between its thousands and behind it.
fn without_groups(word: &[u8]) -> Vec<u8> {
    let commas = |b: &&u8| **b != b',';
    word.iter().filter(commas).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let found = blocks(text.as_bytes());
        found
            .into_iter()
            .map(|block| String::from_utf8(block.text).unwrap())
            .collect()
    }

    #[test]
    fn lines_that_are_alike_are_found_among_prose() {
        let rows: String = (0..6)
            .map(|n| format!("> VmRSS: {} kB\n", 9_990 + 7 * n))
            .collect();
        let text = format!("On Ubuntu 22.04 I see:\n```\n$ ./watch 3\n{rows}```\nIs 1 normal?\n");
        let found = blocks(text.as_bytes());
        assert_eq!(found[0].lines, (3, 9));
        assert!(texts(&text)[1].starts_with("VmRSS: 9990 kB\nVmRSS: 9997 kB\n"));
    }

    #[test]
    fn a_markdown_table_keeps_its_head() {
        let text = "Look:\n\n| Step | RAM (GB) |\n|--:|:--|\n| 10 | 5.5 |\n| 20 | 7 |\n| 30 | 8.9 |\n| 40 | 10.1 |\n\nWhy?\n";
        assert!(texts(text)[0].starts_with("| Step | RAM (GB) |\n"));
        assert!(texts(text)[0].ends_with("| 40 | 10.1 |"));
    }

    #[test]
    fn names_of_several_words_are_aligned() {
        let text = "run     RSS     change so far\n0  12MB  0MB\n1  14MB  2MB\n2  16MB  4MB\n3  18MB  6MB\n";
        let aligned = "run\tRSS\tchange so far\n0\t12MB\t0MB\n";
        assert!(texts(text).iter().any(|text| text.starts_with(aligned)));
    }

    #[test]
    fn pairs_are_freed_of_their_signs() {
        let last = |text: &str| texts(text).pop().unwrap();
        let rows = "(0, 500)\n(1, 510)\n(2, 520)\n(3, 530)\n";
        assert_eq!(last(rows), "0 500\n1 510\n2 520\n3 530");
        let rows = "0: 5,000,000\n1: 5,100,000\n2: 5,200,000\n3: 5,300,000\n";
        assert_eq!(last(rows), "0 5000000\n1 5100000\n2 5200000\n3 5300000");
    }

    #[test]
    fn prose_has_no_block() {
        assert!(blocks(b"").is_empty());
        assert!(blocks(b"I have 1 GPU\nand 2 workers\nand 3 wishes\n").is_empty());
    }
}
