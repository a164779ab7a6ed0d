//! Inputs that leveloff does not read, and the command that converts them.

use std::borrow::Cow;

use super::READABLE;
use crate::error::{Problem, Result};

/// First bytes of other formats, and the command that converts them.
const MAGIC: [(&[u8], &str); 11] = [
    (
        b"\x1f\x8b",
        "is compressed; gzip -dc FILE | leveloff judge -",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "is compressed; zstd -dc FILE | leveloff judge -",
    ),
    (
        b"\xfd7zXZ\0",
        "is compressed; xz -dc FILE | leveloff judge -",
    ),
    (b"BZh", "is compressed; bzip2 -dc FILE | leveloff judge -"),
    (
        b"PK\x03\x04",
        "is a zip archive or a spreadsheet; save the table as CSV",
    ),
    (
        b"SQLite format 3\0",
        "is an SQLite database, as procpath makes it; export it first: \
         sqlite3 -header -csv FILE 'SELECT ts, stat_pid AS pid, stat_rss * 4096 AS rss_bytes FROM record' \
         | leveloff judge -",
    ),
    (
        b"PAR1",
        "is a Parquet file; write it as CSV first: pandas.read_parquet(FILE).to_csv(…)",
    ),
    (b"\x89HDF", "is an HDF5 file; write its table as CSV first"),
    (
        b"\x80\x04\x95",
        "is a Python pickle; write its table as CSV first",
    ),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
];

const UTF_16: &str = "is UTF-16; iconv -f UTF-16 -t UTF-8 FILE | leveloff judge -";

/// Refuses what is not text, or text of a kind that has to be converted first.
pub fn refuse_unsupported(head: &[u8]) -> Result<()> {
    match advice(head) {
        Some(advice) => Err(Problem::unusable(advice)),
        None => Ok(()),
    }
}

fn advice(head: &[u8]) -> Option<Cow<'static, str>> {
    if head.is_empty() {
        return Some("is empty: nothing was written yet".into());
    }
    if let Some((_, advice)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some((*advice).into());
    }
    let first = &head[..head.len().min(4096)];
    if is_every_other_byte_zero(first) {
        Some(UTF_16.into())
    } else if is_binary(first) {
        Some(format!("is binary, not text; leveloff reads {READABLE}").into())
    } else if is_json_array(head) {
        Some("is a JSON array; convert it to lines: jq -c '.[]' FILE | leveloff judge -".into())
    } else {
        None
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    let is_control = |b: &&u8| b.is_ascii_control() && !b"\t\n\r\x1b\x08".contains(b);
    bytes.iter().filter(is_control).count() * 20 > bytes.len()
}

/// UTF-16 without its mark: plain letters leave every other byte zero.
fn is_every_other_byte_zero(bytes: &[u8]) -> bool {
    let zeros_from = |start: usize| {
        let zeros = bytes.iter().skip(start).step_by(2).filter(|b| **b == 0);
        zeros.count() * 2
    };
    let (even, odd) = (zeros_from(0), zeros_from(1));
    let (more, fewer) = (even.max(odd), even.min(odd));
    more * 10 > bytes.len() * 8 && fewer * 10 < bytes.len()
}

fn is_json_array(head: &[u8]) -> bool {
    let inside = head.trim_ascii_start().strip_prefix(b"[");
    inside.is_some_and(|inside| inside.trim_ascii_start().starts_with(b"{\""))
}
