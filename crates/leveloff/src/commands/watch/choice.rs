//! Which of several runs? A small numbered list on the terminal.

use std::io::{self, BufRead, Write};

use anyhow::{Result, bail};
use leveloff_sampler::find::Run;

use crate::run_target::{several, shown};

/// Asks on the terminal; which one, counted from zero.
pub(crate) fn ask(runs: &[Run]) -> Result<usize> {
    let lines: Vec<String> = runs
        .iter()
        .map(|run| format!("pid {}  {}", run.root, shown(run)))
        .collect();
    match choose(&lines, io::stdin().lock(), io::stderr()) {
        Some(chosen) => Ok(chosen),
        None => bail!("{}", several(runs)),
    }
}

/// `None` when nothing was chosen.
fn choose(lines: &[String], mut input: impl BufRead, mut output: impl Write) -> Option<usize> {
    let mut text = format!("leveloff: there are {} runs:\n", lines.len());
    for (number, line) in lines.iter().enumerate() {
        text.push_str(&format!("  {}  {line}\n", number + 1));
    }
    loop {
        text.push_str(&format!("which one? [1-{}] ", lines.len()));
        output.write_all(text.as_bytes()).ok()?;
        output.flush().ok()?;
        text.clear();
        let mut answer = String::new();
        if input.read_line(&mut answer).ok()? == 0 || answer.trim().is_empty() {
            return None;
        }
        match answer.trim().parse::<usize>() {
            Ok(number) if (1..=lines.len()).contains(&number) => return Some(number - 1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(answers: &str) -> (Option<usize>, String) {
        let lines = ["pid 7  python a.py", "pid 9  python b.py"].map(str::to_owned);
        let mut output = Vec::new();
        let chosen = choose(&lines, answers.as_bytes(), &mut output);
        (chosen, String::from_utf8(output).unwrap())
    }

    #[test]
    fn a_number_of_the_list_is_accepted_and_anything_else_prompts_again() {
        let (chosen, text) = answered("2\n");
        assert_eq!(chosen, Some(1));
        assert!(text.contains("\n  1  pid 7  python a.py\n"), "{text}");
        assert!(text.ends_with("which one? [1-2] "), "{text}");
        let (chosen, text) = answered("3\nx\n0\n1\n");
        assert_eq!(chosen, Some(0));
        assert_eq!(text.matches("which one?").count(), 4);
    }

    #[test]
    fn no_answer_is_none() {
        assert_eq!(answered("").0, None);
        assert_eq!(answered("\n").0, None);
    }
}
