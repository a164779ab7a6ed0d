//! Colours say what the words say, and nothing more.

use leveloff_dashboard::theme::{Charset, Look, Theme};
use ratatui::style::Color;

use crate::cases::{leak, machine, ranks, story_at};
use crate::screen;

#[test]
fn without_colour_there_is_none() {
    let look = Look {
        theme: Theme::None,
        charset: Charset::Unicode,
    };
    for mut scene in [leak(), ranks(), machine()] {
        scene.press("j");
        let shown = screen(&mut scene.dashboard, &look, (120, 40));
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
        let look = Look {
            theme,
            charset: Charset::Unicode,
        };
        let border = |mut scene: crate::scene::Scene| {
            let shown = screen(&mut scene.dashboard, &look, (80, 24));
            shown.buffer()[(0, 1)].fg
        };
        let (level, leaking, early) = (border(story_at(300)), border(leak()), border(story_at(80)));
        assert!(level != leaking && leaking != early && level != early);
    }
}

#[test]
fn ascii_is_ascii() {
    let look = Look {
        theme: Theme::None,
        charset: Charset::Ascii,
    };
    for (case, mut scene) in [("leak", leak()), ("level", story_at(300))] {
        scene.press("j");
        for size in [(80, 24), (200, 60)] {
            let shown = screen(&mut scene.dashboard, &look, size);
            assert!(shown.to_string().is_ascii(), "{shown}");
            let name = format!("ascii_{case}_{}x{}", size.0, size.1);
            insta::assert_snapshot!(name, shown);
        }
    }
}
