//! The screen of a fleet, at every size, with verdicts that were really judged.

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_dashboard::draw::fleet::draw;
use leveloff_dashboard::fleet_view::{FleetAction, FleetView};
use leveloff_dashboard::theme::{Charset, Styles, Theme};
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Bytes, Limit, Seconds};
use leveloff_text::fleet::{Fleet, Member};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::SIZES;

fn member(rank: usize, bytes_a_second: f64) -> Member {
    let stated = StatedFacts {
        limit: Some(Limit::Size(Bytes(32 << 30))),
        ..StatedFacts::default()
    };
    let mut judge = RunJudge::new(XUnit::Second, &stated);
    for place in 0..1440_u32 {
        let t = f64::from(place) * 15.0;
        let noise = f64::from(place.wrapping_mul(2_654_435_761) >> 16) * 64.0;
        judge.observe(&Observation {
            t: Some(Seconds(t)),
            memory: Bytes((8e9 + bytes_a_second * t + noise) as u64),
            ..Observation::default()
        });
    }
    Member {
        name: format!("lm-7b rank {rank}"),
        job: Some("lm-7b".to_owned()),
        labels: BTreeMap::new(),
        verdict: judge.verdict(),
        stated,
        notes: Vec::new(),
        now: Bytes((8e9 + bytes_a_second * 21_600.0) as u64),
        ended: None,
        spark: Vec::new(),
    }
}

fn fleet(ranks: usize) -> Fleet {
    let level = member(0, 0.0);
    let mut members: Vec<Member> = (0..ranks)
        .map(|rank| Member {
            name: format!("lm-7b rank {rank}"),
            ..level.clone()
        })
        .collect();
    members[5] = member(5, 4e5);
    let mut fleet = Fleet {
        server: "http://127.0.0.1:9090".to_owned(),
        query: "leveloff_memory_bytes, the last 6 h by 15 s".to_owned(),
        at: "2026-11-17 20:00:00 UTC".to_owned(),
        members,
        ..Fleet::default()
    };
    fleet.sort();
    fleet
}

fn shown(view: &FleetView, styles: &Styles, size: (u16, u16)) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| draw(view, styles, frame)).unwrap();
    terminal.backend().clone()
}

fn press(view: &mut FleetView, code: KeyCode) -> FleetAction {
    view.on_key(KeyEvent::new(code, KeyModifiers::NONE), 10)
}

#[test]
fn the_rank_that_leaks_stands_on_top() {
    let mut view = FleetView::default();
    view.show(Ok(fleet(40)));
    for size in SIZES {
        let name = format!("fleet_{}x{}", size.0, size.1);
        insta::assert_snapshot!(name, shown(&view, &Styles::default(), size));
    }
}

#[test]
fn the_selected_run_stays_selected_and_errors_are_shown() {
    let mut view = FleetView::default();
    view.show(Ok(fleet(40)));
    assert_eq!(view.selected(), 0);
    press(&mut view, KeyCode::End);
    assert_eq!(view.members()[view.selected()].name, "lm-7b rank 39");
    view.show(Ok(fleet(60)));
    assert_eq!(view.members()[view.selected()].name, "lm-7b rank 39");
    assert_eq!(press(&mut view, KeyCode::Char('r')), FleetAction::Refresh);
    view.show(Err("http://127.0.0.1:9090 cannot be reached".to_owned()));
    let screen = shown(&view, &Styles::default(), (100, 30)).to_string();
    assert!(screen.contains("cannot be reached"), "{screen}");
    assert!(screen.contains("lm-7b rank 39"), "{screen}");
    assert_eq!(press(&mut view, KeyCode::Char('q')), FleetAction::Quit);
}

#[test]
fn any_size_and_no_run_at_all_can_be_drawn() {
    let styles = Styles {
        theme: Theme::None,
        charset: Charset::Ascii,
    };
    let mut view = FleetView::default();
    for fleet in [None, Some(Fleet::default()), Some(fleet(40))] {
        if let Some(fleet) = fleet {
            view.show(Ok(fleet));
        }
        for code in [KeyCode::Down, KeyCode::PageUp, KeyCode::Home] {
            press(&mut view, code);
        }
        for columns in (1..90).step_by(7) {
            for rows in 1..30 {
                let screen = shown(&view, &styles, (columns, rows)).to_string();
                assert!(screen.is_ascii(), "{screen}");
            }
        }
    }
}
