//! The command that goes on with a trial: as it was started, with `--resume`.

use std::path::Path;

use leveloff_report::secrets::masked;
use leveloff_text::shell::shell;

/// From the arguments behind the program's name.
pub(super) fn resume_command(arguments: impl Iterator<Item = String>, directory: &Path) -> String {
    let mut words = vec!["leveloff".to_owned()];
    let mut arguments = arguments.peekable();
    while let Some(word) = arguments.next_if(|word| word != "--") {
        match word.as_str() {
            "--resume" => {}
            "-o" | "--output" => {
                arguments.next();
            }
            short if short.starts_with("-o") || short.starts_with("--output=") => {}
            _ => words.push(word),
        }
    }
    let resume = ["--resume", "-o"].map(str::to_owned);
    words.extend(resume);
    words.push(directory.display().to_string());
    words.extend(arguments);
    shell(&masked(&words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stays_but_where_it_is_written() {
        let command = |text: &str| {
            let words = text.split(' ').map(str::to_owned);
            resume_command(words, Path::new("/tmp/t"))
        };
        let expected = "leveloff try --arms a,b --resume -o /tmp/t -- python -o x.py";
        assert_eq!(command("try --arms a,b -- python -o x.py"), expected);
        assert_eq!(command("try -o t --arms a,b -- python -o x.py"), expected);
        assert_eq!(
            command("try --output=t --resume --arms a,b -- python -o x.py"),
            expected
        );
    }
}
