//! Pages, prompts, and views that stand still or play.

use crossterm::event::KeyCode;
use leveloff_classifier::run_analysis::GrowthOrigin;
use leveloff_dashboard::event::{Event, Mode, ReplayPosition, SourceNews};
use leveloff_dashboard::theme::Look;
use leveloff_model::units::Seconds;

use crate::cases::{cast, leak, ranks, story_at};
use crate::scene::Scene;
use crate::{check, screen};

#[test]
fn help() {
    let mut scene = story_at(80);
    scene.press("?");
    check("help", scene.dashboard);
}

#[test]
fn the_page_of_a_process() {
    let mut scene = ranks();
    scene.press("ss");
    scene.press("j\n");
    check("process", scene.dashboard);
}

#[test]
fn findings() {
    let mut scene = leak();
    scene.press("F");
    check("findings", scene.dashboard);
}

#[test]
fn what_happened() {
    let mut scene = leak();
    scene.press("L");
    check("log", scene.dashboard);
}

#[test]
fn frozen() {
    let mut scene = story_at(60);
    scene.press("p");
    scene.play(61..=80);
    check("frozen", scene.dashboard);
}

#[test]
fn replay() {
    let mut scene = Scene::in_mode(Mode::Replay, cast(|step| 4000.0 + step));
    scene.play(1..=200);
    let position = ReplayPosition {
        at: Seconds(1080.0),
        end: Some(Seconds(4860.0)),
        speed: 8.0,
        paused: false,
    };
    let news = SourceNews::Replaying(position);
    scene.dashboard.on(Event::Source(news));
    check("replay", scene.dashboard);
}

#[test]
fn a_filter_is_typed_and_shown() {
    let mut scene = story_at(80);
    scene.press("/load");
    let size = (80, 24);
    let typing = screen(&mut scene.dashboard, &Default::default(), size).to_string();
    assert!(typing.contains("show processes with: load"), "{typing}");
    scene.key(KeyCode::Enter);
    let kept = screen(&mut scene.dashboard, &Default::default(), size).to_string();
    assert!(kept.contains("WHO \"load\""), "{kept}");
    assert!(!kept.contains("▸ compile workers"), "{kept}");
    scene.press("/zz\n");
    let nothing = screen(&mut scene.dashboard, &Default::default(), size).to_string();
    assert!(nothing.contains("no process has \"loadzz\""), "{nothing}");
}

#[test]
fn leaving_a_command_asks() {
    let mut scene = Scene::in_mode(Mode::Command, cast(|_| 4000.0));
    scene.play(1..=3);
    scene.press("q");
    let asked = screen(&mut scene.dashboard, &Default::default(), (80, 24)).to_string();
    assert!(asked.contains("l leave it running  s stop it"), "{asked}");
    scene.dashboard.on(Event::Source(SourceNews::Ended(
        "with exit code 0".to_owned(),
    )));
    let ended = screen(&mut scene.dashboard, &Default::default(), (80, 24)).to_string();
    assert!(ended.contains("ENDED with exit code 0"), "{ended}");
}

#[test]
fn growth_counts_from_the_first_step_until_the_user_sets_a_marker() {
    let mut scene = Scene::new(cast(|step| 4000.0 + step));
    scene.tells_steps = false;
    scene.play(0..5);
    let since = |scene: &Scene| {
        let since = scene.dashboard.run().account().unwrap().since;
        (since.origin, since.moment.count)
    };
    assert_eq!(since(&scene).1, None);
    scene.tells_steps = true;
    scene.play(5..20);
    assert_eq!(since(&scene).1, Some(5.0));
    scene.press("m");
    scene.play(20..25);
    assert_eq!(since(&scene), (GrowthOrigin::Marker, Some(19.0)));
    let shown = screen(&mut scene.dashboard, &Look::default(), (80, 24)).to_string();
    assert!(
        shown.contains("+5.0 MiB since the marker (step 19)"),
        "{shown}"
    );
}

#[test]
fn what_a_run_held_stays_when_it_has_ended() {
    let mut scene = story_at(300);
    scene.end(301);
    scene.ended();
    check("ended", scene.dashboard);
}

#[test]
fn a_page_that_is_longer_than_the_screen_can_be_moved() {
    let mut scene = leak();
    let shown =
        |scene: &mut Scene| screen(&mut scene.dashboard, &Look::default(), (62, 16)).to_string();
    for (page, first, moved) in [
        ("F", "held references", "smaller number"),
        ("L", "verdict", "trainer started"),
    ] {
        scene.press(page);
        assert!(shown(&mut scene).contains(first), "{page}");
        let key = if page == "F" {
            KeyCode::PageDown
        } else {
            KeyCode::PageUp
        };
        for _ in 0..9 {
            scene.key(key);
        }
        let after = shown(&mut scene);
        assert!(after.contains(moved) && !after.contains(first), "{after}");
        // It was not moved further than there is something to see.
        let back = if page == "F" {
            KeyCode::PageUp
        } else {
            KeyCode::PageDown
        };
        scene.key(back);
        scene.key(back);
        assert!(shown(&mut scene).contains(first), "{page}");
        scene.key(KeyCode::Esc);
    }
}

#[test]
fn a_run_that_was_joined_is_shown_when_it_is_known_what_its_workers_share() {
    let mut scene = Scene::new(cast(|step| 4000.0 + step));
    let known = |scene: &mut Scene, known| {
        scene
            .actors
            .iter_mut()
            .for_each(|actor| actor.is_read = known);
    };
    scene.seconds_a_step = 1.0;
    known(&mut scene, false);
    scene.play(100..=102);
    let shown =
        |scene: &mut Scene| screen(&mut scene.dashboard, &Look::default(), (80, 24)).to_string();
    assert!(shown(&mut scene).contains("has not been measured yet"));
    known(&mut scene, true);
    scene.play(103..=120);
    let after = shown(&mut scene);
    assert!(
        after.contains("trainer 22180") && after.contains("compile workers ×20"),
        "{after}"
    );
}

#[test]
fn a_run_that_ended_promises_nothing() {
    let mut scene = Scene::new(cast(|step| 4000.0 + step));
    scene.play(1..=60);
    let shown =
        |scene: &mut Scene| screen(&mut scene.dashboard, &Look::default(), (80, 24)).to_string();
    assert!(shown(&mut scene).contains("decided about step"));
    scene.end(61);
    scene.ended();
    let after = shown(&mut scene);
    assert!(
        after.contains("it ended before that could be decided"),
        "{after}"
    );
    assert!(!after.contains("decided about step"), "{after}");
}
