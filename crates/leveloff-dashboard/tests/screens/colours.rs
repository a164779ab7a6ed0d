//! Colours say what the words say, and nothing more.

use leveloff_dashboard::theme::{Charset, Styles, Theme};
use ratatui::style::Color;

use crate::cases::{leak, machine, ranks, story_at};
use crate::screen;

#[test]
fn without_colour_there_is_none() {
    let styles = Styles {
        theme: Theme::None,
        charset: Charset::Unicode,
    };
    for mut run in [leak(), ranks(), machine()] {
        run.press("j");
        let shown = screen(&mut run.dashboard, &styles, (120, 40));
        let coloured = shown
            .buffer()
            .content
            .iter()
            .filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(coloured.count(), 0);
    }
}

#[test]
fn the_border_has_the_colour_of_the_verdict_in_every_theme() {
    for theme in [Theme::Dark, Theme::Light, Theme::ColourBlind] {
        let styles = Styles {
            theme,
            charset: Charset::Unicode,
        };
        let border = |mut run: crate::simulated_run::SimulatedRun| {
            let shown = screen(&mut run.dashboard, &styles, (80, 24));
            shown.buffer()[(0, 1)].fg
        };
        let (level, leaking, early) = (border(story_at(300)), border(leak()), border(story_at(80)));
        assert!(level != leaking && leaking != early && level != early);
    }
}

#[test]
fn ascii_is_ascii() {
    let styles = Styles {
        theme: Theme::None,
        charset: Charset::Ascii,
    };
    for (case, mut run) in [("leak", leak()), ("level", story_at(300))] {
        run.press("j");
        for size in [(80, 24), (200, 60)] {
            let shown = screen(&mut run.dashboard, &styles, size);
            assert!(shown.to_string().is_ascii(), "{shown}");
            let name = format!("ascii_{case}_{}x{}", size.0, size.1);
            insta::assert_snapshot!(name, shown);
        }
    }
}
