//! The same seed gives the same losses, also over a resume.

use crate::trainer::{Home, losses};

#[test]
fn the_same_seed_gives_the_same_losses_to_the_last_bit() {
    let home = Home::new();
    let one = losses(&home.json_lines("--steps 12 --evaluate-every 5"));
    assert_eq!(one.len(), 12);
    assert_eq!(
        one,
        losses(&home.json_lines("--steps 12 --evaluate-every 7"))
    );
    assert_ne!(one, losses(&home.json_lines("--steps 12 --seed 2")));
}

#[test]
fn a_resumed_training_goes_on_as_if_it_had_never_ended() {
    let home = Home::new();
    let whole = losses(&home.json_lines("--steps 40"));
    let mut parts = losses(&home.json_lines("--steps 20 --checkpoint-dir CKPT"));
    let rest = home.json_lines("--steps 40 --checkpoint-dir CKPT --resume");
    assert_eq!(rest[0]["event"], "resumed");
    assert_eq!(rest[0]["step"], 20);
    parts.extend(losses(&rest));
    assert_eq!(whole, parts);
    // And once more from a file by its name.
    let file = home.path("ckpt/step-00000020.safetensors");
    let again = home.json_lines(&format!("--steps 40 --resume {}", file.display()));
    assert_eq!(whole[20..], losses(&again));
}

#[test]
fn lines_are_plain_where_there_is_no_terminal() {
    let home = Home::new();
    let output = home.run("--steps 20 --evaluate-every 20");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let first = text.lines().next().expect("a line");
    assert!(first.starts_with("step 10/20  loss 1."), "{first}");
    assert!(first.ends_with(" steps/s"), "{first}");
    assert!(text.contains("evaluation: loss "), "{text}");
    assert!(text.ends_with("finished 20 steps\n"), "{text}");
    assert!(home.run("--steps 2 --quiet").stdout.is_empty());
}
