//! No size and no state breaks it.

use crossterm::event::KeyCode;
use leveloff_dashboard::event::Mode;
use leveloff_dashboard::theme::{Charset, Styles, Theme};

use crate::cases::{leak, machine, processes, ranks, story_at, undecided};
use crate::simulated_run::SimulatedRun;
use crate::{screen, shown};

#[test]
fn every_size_from_one_cell_up_is_drawn() {
    for mut run in [
        story_at(80),
        ranks(),
        machine(),
        SimulatedRun::new(Vec::new()),
    ] {
        for columns in (1..=140).step_by(3) {
            for rows in (1..=44).step_by(3) {
                screen(&mut run.dashboard, &Styles::default(), (columns, rows));
            }
        }
        screen(&mut run.dashboard, &Styles::default(), (500, 200));
    }
}

#[test]
fn every_page_is_drawn_at_every_size() {
    for page in ["?", "F", "L", "j\n", " j\n", "/x", "q"] {
        let mut run = leak();
        run.press(page);
        for columns in (1..=130).step_by(5) {
            for rows in (1..=40).step_by(3) {
                screen(&mut run.dashboard, &Styles::default(), (columns, rows));
            }
        }
    }
}

#[test]
fn a_frame_of_another_size_than_the_layout_is_drawn() {
    let mut run = story_at(80);
    screen(&mut run.dashboard, &Styles::default(), (200, 60));
    for size in [(61, 17), (80, 60), (200, 16), (250, 80)] {
        shown(&run.dashboard, &Styles::default(), size);
    }
}

#[test]
fn any_keys_in_any_order_leave_something_that_can_be_drawn() {
    let keys = "?FLjkhlsx+-0fmp /ab\ne[],.g9\nGr";
    let mut chance = 1_u64;
    let mut next = |below: usize| {
        chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1);
        (chance >> 33) as usize % below
    };
    for start in [Mode::Live, Mode::Replay, Mode::System, Mode::Command] {
        let mut run = SimulatedRun::in_mode(start, processes(|step| 100.0 + step));
        for step in 0..300_u64 {
            run.play([step / 2]);
            let key = keys.chars().nth(next(keys.chars().count())).unwrap();
            run.key(match key {
                '\n' => KeyCode::Enter,
                key => KeyCode::Char(key),
            });
            if next(4) == 0 {
                run.key(KeyCode::Esc);
            }
            let size = (next(150) as u16 + 1, next(50) as u16 + 1);
            let styles = Styles {
                theme: Theme::ALL[next(4)],
                charset: [Charset::Unicode, Charset::Ascii][next(2)],
            };
            screen(&mut run.dashboard, &styles, size);
        }
    }
}

#[test]
fn a_screen_that_is_too_small_says_so_and_still_shows_the_verdict() {
    for (mut run, words) in [(leak(), "LEAK (confirmed)"), (undecided(), "UNDECIDED")] {
        let text = screen(&mut run.dashboard, &Styles::default(), (40, 10)).to_string();
        assert!(text.contains(words), "{text}");
        assert!(text.contains("60×16") && text.contains("40×10"), "{text}");
    }
}
