//! A command as one would type it.

use leveloff_model::process::printable;

/// The words with quotes where a shell needs them.
pub fn shell(command: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let quoted = |word: &String| {
        let word = printable(word.as_bytes());
        if !word.is_empty() && word.chars().all(is_plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_change_is_quoted() {
        let command = ["python", "it's.py", "--lr=1e-4", "", "$HOME"].map(str::to_owned);
        assert_eq!(shell(&command), r"python 'it'\''s.py' --lr=1e-4 '' '$HOME'");
    }
}
