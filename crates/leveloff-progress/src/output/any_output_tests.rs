//! Outputs that many writers, terminals and broken programs make.

use proptest::prelude::*;

use super::*;

/// Feeds bytes in pieces of these sizes, cyclically; returns the steps and the number of restarts.
fn read(bytes: &[u8], sizes: &[usize]) -> (Vec<u64>, usize) {
    let mut parser = OutputParser::new();
    let mut updates = Vec::new();
    let mut rest = bytes;
    for size in sizes.iter().cycle() {
        let (piece, after) = rest.split_at((*size).min(rest.len()));
        updates.extend(parser.feed(piece));
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    updates.extend(parser.finish());
    let restarts = updates.iter().filter(|update| update.restarted).count();
    let steps = updates.iter().filter_map(|update| update.step);
    (steps.map(|Step(step)| step).collect(), restarts)
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1usize..200, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each rank writes its own lines in order; whose line is next is left to chance, within four steps.
    #[test]
    fn four_ranks_on_one_pipe_are_one_training(turns in prop::collection::vec(0usize..4, 200), sizes in sizes()) {
        let mut next = [0u64; 4];
        let mut text = String::new();
        for rank in turns {
            let slowest = next.iter().min().copied().unwrap_or(0);
            if next[rank] < slowest + 3 {
                text += &format!("[rank{rank}]: step {} loss 2.{}\n", next[rank] * 10, next[rank]);
                next[rank] += 1;
            }
        }
        let last = next.iter().max().map(|next| (next - 1) * 10);
        let (steps, restarts) = read(text.as_bytes(), &sizes);
        prop_assert_eq!(steps.last().copied(), last);
        prop_assert!(steps.is_sorted(), "{:?}", steps);
        prop_assert_eq!(restarts, 0);
    }

    #[test]
    fn a_bar_and_prints_on_one_terminal_are_one_training(every in 1u64..9, sizes in sizes()) {
        let mut text = String::new();
        for n in 1..=120u64 {
            text += &format!("\r{:3}%|██  | {n}/120 [00:01<00:04, 7.22it/s]", n * 100 / 120);
            if n % every == 0 {
                text += &format!("\nvalue {}.5 reached\r\n", n * 3);
            }
        }
        let (steps, restarts) = read(text.as_bytes(), &sizes);
        prop_assert_eq!(steps.last(), Some(&120));
        prop_assert!(steps.is_sorted(), "{:?}", steps);
        prop_assert_eq!(restarts, 0);
    }

    #[test]
    fn colours_and_wide_characters_change_no_step(
        colours in prop::collection::vec(prop::sample::select(vec!["", "\x1b[1;32m", "\x1b[0m", "\x1b[2K", "\x1b]0;title\x07"]), 40),
        prefix in prop::sample::select(vec!["", "🚀 ", "損失 ", "│ "]),
        sizes in sizes(),
    ) {
        let line = |(n, colour): (usize, &&str)| {
            format!("{colour}{prefix}step {colour}{} loss: 2.{n} 学習{colour}\n", n * 5)
        };
        let text: String = colours.iter().enumerate().map(line).collect();
        let (steps, restarts) = read(text.as_bytes(), &sizes);
        prop_assert_eq!(steps.last(), Some(&195));
        prop_assert_eq!(restarts, 0);
    }

    #[test]
    fn lines_that_only_return_are_read(sizes in sizes()) {
        let text: String = (0..60).map(|n| format!("step {n} loss 2.{n}  \r")).collect();
        let (steps, _) = read(text.as_bytes(), &sizes);
        prop_assert_eq!(steps.last(), Some(&59));
    }
}

#[test]
fn a_line_of_a_megabyte_hides_no_step_and_is_not_kept() {
    for filler in ["x", "12 ", "]", "|[", "\x1b[", "損"] {
        let long = filler.repeat((1 << 20) / filler.len());
        let text = format!("step 1 loss 2.1\nstep 2 loss 2.0\n{long}\nstep 3 loss 1.9\n");
        let whole = read(text.as_bytes(), &[text.len()]);
        assert_eq!(whole.0, [1, 2, 3], "{filler:?}");
        assert_eq!(read(text.as_bytes(), &[4096]), whole, "{filler:?}");
    }
}
