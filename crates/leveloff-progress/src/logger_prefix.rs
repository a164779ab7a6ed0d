//! What Python's logging prints in front of a message.

/// The length of `INFO:root:`, which Python's logging prints in front of a message by default.
pub fn logger_prefix(line: &[u8]) -> usize {
    const LEVELS: [&[u8]; 4] = [b"INFO:", b"DEBUG:", b"WARNING:", b"ERROR:"];
    let Some(level) = LEVELS.iter().find(|level| line.starts_with(level)) else {
        return 0;
    };
    let name = &line[level.len()..];
    let length = name
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || b"_.-".contains(b))
        .count();
    match name.get(length) {
        Some(b':') => level.len() + length + 1,
        _ => 0,
    }
}
