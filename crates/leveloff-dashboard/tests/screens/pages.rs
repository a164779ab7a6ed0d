//! Pages, prompts, and views that stand still or play.

use crossterm::event::KeyCode;
use leveloff_classifier::run_analysis::GrowthOrigin;
use leveloff_dashboard::event::{Event, Mode, ReplayPosition, SourceEvent};
use leveloff_dashboard::theme::Styles;
use leveloff_model::units::Seconds;

use crate::cases::{leak, processes, ranks, story_at};
use crate::simulated_run::SimulatedRun;
use crate::{check, screen};

#[test]
fn help() {
    let mut run = story_at(80);
    run.press("?");
    check("help", run.dashboard);
}

#[test]
fn the_page_of_a_process() {
    let mut run = ranks();
    run.press("ss");
    run.press("j\n");
    check("process", run.dashboard);
}

#[test]
fn findings() {
    let mut run = leak();
    run.press("F");
    check("findings", run.dashboard);
}

#[test]
fn the_line_that_leaks_comes_first() {
    let mut run = SimulatedRun::new(processes(|step| 4200.0 + 2.0 * step)).limited(24.0);
    run.line_keeps = Some(|step| 2.0 * step);
    run.play(1..=900);
    let text = screen(&mut run.dashboard, &Styles::default(), (120, 40)).to_string();
    for part in [
        "line: train.py:88 in train allocated 100 %",
        "outputs.append(y.detach())",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    run.press("F");
    let page = screen(&mut run.dashboard, &Styles::default(), (120, 40)).to_string();
    assert!(!page.contains("→  "), "an arrow without a text: {page}");
}

#[test]
fn what_happened() {
    let mut run = leak();
    run.press("L");
    check("log", run.dashboard);
}

#[test]
fn frozen() {
    let mut run = story_at(60);
    run.press("p");
    run.play(61..=80);
    check("frozen", run.dashboard);
}

#[test]
fn replay() {
    let mut run = SimulatedRun::in_mode(Mode::Replay, processes(|step| 4000.0 + step));
    run.play(1..=200);
    let position = ReplayPosition {
        at: Seconds(1080.0),
        end: Some(Seconds(4860.0)),
        speed: 8.0,
        paused: false,
    };
    let news = SourceEvent::Replaying(position);
    run.dashboard.on(Event::Source(news));
    check("replay", run.dashboard);
}

#[test]
fn a_filter_is_typed_and_shown() {
    let mut run = story_at(80);
    run.press("/load");
    let size = (80, 24);
    let typing = screen(&mut run.dashboard, &Default::default(), size).to_string();
    assert!(typing.contains("show processes with: load"), "{typing}");
    run.key(KeyCode::Enter);
    let kept = screen(&mut run.dashboard, &Default::default(), size).to_string();
    assert!(kept.contains("WHO \"load\""), "{kept}");
    assert!(!kept.contains("▸ compile workers"), "{kept}");
    run.press("/zz\n");
    let nothing = screen(&mut run.dashboard, &Default::default(), size).to_string();
    assert!(nothing.contains("no process has \"loadzz\""), "{nothing}");
}

#[test]
fn leaving_a_command_asks() {
    let mut run = SimulatedRun::in_mode(Mode::Command, processes(|_| 4000.0));
    run.play(1..=3);
    run.press("q");
    let question = screen(&mut run.dashboard, &Default::default(), (80, 24)).to_string();
    assert!(
        question.contains("l leave it running  s stop it"),
        "{question}"
    );
    run.dashboard.on(Event::Source(SourceEvent::Ended(
        "with exit code 0".to_owned(),
    )));
    let ended = screen(&mut run.dashboard, &Default::default(), (80, 24)).to_string();
    assert!(ended.contains("ENDED with exit code 0"), "{ended}");
}

#[test]
fn growth_counts_from_the_first_step_until_the_user_sets_a_marker() {
    let mut run = SimulatedRun::new(processes(|step| 4000.0 + step));
    run.tells_steps = false;
    run.play(0..5);
    let since = |run: &SimulatedRun| {
        let since = run.dashboard.run().account().unwrap().since;
        (since.origin, since.moment.count)
    };
    assert_eq!(since(&run).1, None);
    run.tells_steps = true;
    run.play(5..20);
    assert_eq!(since(&run).1, Some(5.0));
    run.press("m");
    run.play(20..25);
    assert_eq!(since(&run), (GrowthOrigin::Marker, Some(19.0)));
    let shown = screen(&mut run.dashboard, &Styles::default(), (80, 24)).to_string();
    assert!(
        shown.contains("+5.0 MiB since the marker (step 19)"),
        "{shown}"
    );
}

#[test]
fn what_a_run_held_stays_when_it_has_ended() {
    let mut run = story_at(300);
    run.end(301);
    run.ended();
    check("ended", run.dashboard);
}

#[test]
fn a_page_that_is_longer_than_the_screen_can_be_moved() {
    let mut run = leak();
    let shown = |run: &mut SimulatedRun| {
        screen(&mut run.dashboard, &Styles::default(), (62, 16)).to_string()
    };
    for (page, first, moved) in [
        ("F", "held references", "smaller number"),
        ("L", "verdict", "trainer started"),
    ] {
        run.press(page);
        assert!(shown(&mut run).contains(first), "{page}");
        let key = if page == "F" {
            KeyCode::PageDown
        } else {
            KeyCode::PageUp
        };
        for _ in 0..9 {
            run.key(key);
        }
        let after = shown(&mut run);
        assert!(after.contains(moved) && !after.contains(first), "{after}");
        // It was not moved further than there is something to see.
        let back = if page == "F" {
            KeyCode::PageUp
        } else {
            KeyCode::PageDown
        };
        run.key(back);
        run.key(back);
        assert!(shown(&mut run).contains(first), "{page}");
        run.key(KeyCode::Esc);
    }
}

#[test]
fn a_run_that_was_joined_is_shown_when_it_is_known_what_its_workers_share() {
    let mut run = SimulatedRun::new(processes(|step| 4000.0 + step));
    let known = |run: &mut SimulatedRun, known| {
        run.processes
            .iter_mut()
            .for_each(|process| process.is_read = known);
    };
    run.seconds_a_step = 1.0;
    known(&mut run, false);
    run.play(100..=102);
    let shown = |run: &mut SimulatedRun| {
        screen(&mut run.dashboard, &Styles::default(), (80, 24)).to_string()
    };
    assert!(shown(&mut run).contains("has not been measured yet"));
    known(&mut run, true);
    run.play(103..=120);
    let after = shown(&mut run);
    assert!(
        after.contains("trainer 22180") && after.contains("compile workers ×20"),
        "{after}"
    );
}

#[test]
fn a_run_that_ended_promises_nothing() {
    let mut run = SimulatedRun::new(processes(|step| 4000.0 + step));
    run.play(1..=60);
    let shown = |run: &mut SimulatedRun| {
        screen(&mut run.dashboard, &Styles::default(), (80, 24)).to_string()
    };
    assert!(shown(&mut run).contains("decided as a leak at step"));
    run.end(61);
    run.ended();
    let after = shown(&mut run);
    assert!(
        after.contains("it ended before that could be decided"),
        "{after}"
    );
    assert!(!after.contains("decided as a leak at step"), "{after}");
}
