//! What each key does.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::dashboard::Dashboard;
use crate::draw::findings::rows_of_page;
use crate::event::{Mode, ReplayRequest, Request};
use crate::history::Axis;
use crate::view::{Page, Prompt, Purpose, Question, RowKey, Window};

/// How far a key moves the chart, as a share of what it shows.
const PAN: f64 = 0.25;
/// Zoom factor of a key.
const ZOOM: f64 = 0.5;
/// Rows that a page key moves by.
const PAGE: isize = 10;
/// Seconds of the recording that a replay skips.
const SKIP: f64 = 10.0;

impl Dashboard {
    pub(super) fn on_key(&mut self, key: KeyEvent) -> Option<Request> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        self.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return self.on_control(key.code);
        }
        if self.view.question.is_some() {
            return self.on_answer(key.code);
        }
        if self.view.prompt.is_some() {
            return self.on_typing(key.code);
        }
        self.on_command(key.code)
    }

    fn on_control(&mut self, code: KeyCode) -> Option<Request> {
        match code {
            KeyCode::Char('c') => self.leave(),
            KeyCode::Char('z') => Some(Request::Suspend),
            _ => None,
        }
    }

    fn on_command(&mut self, code: KeyCode) -> Option<Request> {
        match code {
            KeyCode::Char('q') => return self.leave(),
            KeyCode::Char('?') | KeyCode::F(1) => self.turn_to(Page::Help),
            KeyCode::Char('F') => self.turn_to(Page::Findings),
            KeyCode::Char('L') => self.turn_to(Page::Log),
            KeyCode::Esc | KeyCode::Backspace => self.back(),
            KeyCode::Char('e') => return Some(Request::Export),
            KeyCode::Char('r') => return Some(Request::Report),
            KeyCode::Char('m') => self.set_marker(),
            KeyCode::Char('p') => return self.freeze(),
            KeyCode::Char('s') => self.view.table.sort = self.view.table.sort.next(),
            KeyCode::Char('/') => self.ask(Purpose::Filter),
            KeyCode::Char('j') | KeyCode::Down => self.go_down(1),
            KeyCode::Char('k') | KeyCode::Up => self.go_down(-1),
            KeyCode::PageDown => self.go_down(PAGE),
            KeyCode::PageUp => self.go_down(-PAGE),
            KeyCode::Char(' ') => self.expand(),
            KeyCode::Enter => self.open(),
            _ => return self.on_chart_key(code),
        }
        None
    }

    fn on_chart_key(&mut self, code: KeyCode) -> Option<Request> {
        match code {
            KeyCode::Char('x') => self.change_axis(),
            KeyCode::Char('+' | '=') => self.zoom(ZOOM),
            KeyCode::Char('-') => self.zoom(1.0 / ZOOM),
            KeyCode::Char('h') | KeyCode::Left => self.pan(-PAN),
            KeyCode::Char('l') | KeyCode::Right => self.pan(PAN),
            KeyCode::Char('f') | KeyCode::End => self.follow(),
            KeyCode::Char('0') | KeyCode::Home => self.view.window = Window::Whole,
            _ => return self.on_replay_key(code),
        }
        None
    }

    fn on_replay_key(&mut self, code: KeyCode) -> Option<Request> {
        if self.subject.mode != Mode::Replay {
            return None;
        }
        let request = match code {
            KeyCode::Char(']') => ReplayRequest::Speed(2.0),
            KeyCode::Char('[') => ReplayRequest::Speed(0.5),
            KeyCode::Char('.') => ReplayRequest::Skip(SKIP),
            KeyCode::Char(',') => ReplayRequest::Skip(-SKIP),
            KeyCode::Char('G') => ReplayRequest::JumpToEnd,
            KeyCode::Char('g') => {
                self.ask(Purpose::Step);
                return None;
            }
            _ => return None,
        };
        Some(Request::Replay(request))
    }

    fn on_answer(&mut self, code: KeyCode) -> Option<Request> {
        match code {
            KeyCode::Char('l') => Some(Request::Leave),
            KeyCode::Char('s') => Some(Request::StopRun),
            _ => {
                self.view.question = None;
                None
            }
        }
    }

    fn on_typing(&mut self, code: KeyCode) -> Option<Request> {
        let prompt = self.view.prompt.as_mut()?;
        match code {
            KeyCode::Char(c) => prompt.text.push(c),
            KeyCode::Backspace => {
                prompt.text.pop();
            }
            KeyCode::Esc => {
                if prompt.purpose == Purpose::Filter {
                    self.view.table.filter.clear();
                }
                self.view.prompt = None;
                return None;
            }
            KeyCode::Enter => return self.typed(),
            _ => return None,
        }
        if let Some(prompt) = self.view.prompt.as_ref()
            && prompt.purpose == Purpose::Filter
        {
            self.view.table.filter.clone_from(&prompt.text);
        }
        None
    }

    fn typed(&mut self) -> Option<Request> {
        let prompt = self.view.prompt.take()?;
        match prompt.purpose {
            Purpose::Filter => None,
            Purpose::Step => match prompt.text.trim().parse() {
                Ok(step) => Some(Request::Replay(ReplayRequest::JumpToStep(step))),
                Err(_) => {
                    self.message = Some("a step is a whole number, such as 90".to_owned());
                    None
                }
            },
        }
    }

    /// Leaving is always harmless to the run. For one that we started, there is a choice.
    fn leave(&mut self) -> Option<Request> {
        let is_running = self.subject.mode == Mode::Command && self.ended.is_none();
        if is_running && self.view.question.is_none() {
            self.view.question = Some(Question::LeaveRun);
            return None;
        }
        Some(Request::Leave)
    }

    /// Down by so many rows: in the processes, or on a page that is longer than the screen.
    pub(super) fn go_down(&mut self, by: isize) {
        match self.view.page {
            Page::Overview | Page::Process(_) => self.select(by),
            Page::Help => {}
            Page::Findings => {
                let (columns, rows) = self.size;
                // The header, the footer and the border take four.
                let all = rows_of_page(self, columns);
                let beyond = all.saturating_sub(usize::from(rows.saturating_sub(4)));
                self.scroll(by, beyond);
            }
            // What happened is read from its end.
            Page::Log => {
                let all = self.run().log().all().len();
                self.scroll(-by, all.saturating_sub(1));
            }
        }
    }

    fn scroll(&mut self, by: isize, most: usize) {
        self.view.scrolled = self.view.scrolled.saturating_add_signed(by).min(most);
    }

    fn turn_to(&mut self, page: Page) {
        self.view.scrolled = 0;
        self.view.page = if self.view.page == page {
            Page::Overview
        } else {
            page
        };
    }

    fn back(&mut self) {
        if self.view.page == Page::Overview {
            self.view.table.filter.clear();
        }
        self.view.page = Page::Overview;
    }

    fn ask(&mut self, purpose: Purpose) {
        let text = match purpose {
            Purpose::Filter => self.view.table.filter.clone(),
            Purpose::Step => String::new(),
        };
        self.view.prompt = Some(Prompt { purpose, text });
    }

    fn set_marker(&mut self) {
        self.run.set_marker();
        if let Some(frozen) = &mut self.frozen {
            frozen.set_marker();
        }
        self.message = Some("growth counts from here".to_owned());
    }

    /// A replay is frozen by pausing it.
    fn freeze(&mut self) -> Option<Request> {
        if self.subject.mode == Mode::Replay {
            return Some(Request::Replay(ReplayRequest::TogglePause));
        }
        self.frozen = match self.frozen {
            Some(_) => None,
            None => Some(Box::new(self.run.clone())),
        };
        None
    }

    fn change_axis(&mut self) {
        self.view.axis = Some(match self.axis() {
            Axis::Steps => Axis::Time,
            Axis::Time => Axis::Steps,
        });
        // What was shown of the one axis is nowhere on the other.
        self.view.window = Window::Whole;
        if self.extent().is_none() {
            self.view.axis = None;
            self.message = Some("no steps are known of this run; see docs/MARKS.md".to_owned());
        }
    }

    pub(super) fn zoom(&mut self, factor: f64) {
        if let Some(whole) = self.extent() {
            self.view.window = self.view.window.zoomed(&whole, factor);
        }
    }

    pub(super) fn pan(&mut self, share: f64) {
        if let Some(whole) = self.extent() {
            self.view.window = self.view.window.panned(&whole, share);
        }
    }

    fn follow(&mut self) {
        if let (Window::Fixed(range), Some(_)) = (&self.view.window, self.extent()) {
            self.view.window = Window::Newest(range.end - range.start);
        }
    }

    /// Moves the chosen row by so many.
    pub(super) fn select(&mut self, by: isize) {
        let rows = self.rows();
        let Some(last) = rows.len().checked_sub(1) else {
            return;
        };
        let next = match self.selected_row(&rows) {
            Some(at) => at.saturating_add_signed(by).min(last),
            None => 0,
        };
        self.view.table.selected = Some(rows[next].key);
        // On the page of one process, the next row is the next process.
        if let (Page::Process(_), RowKey::Process(index)) = (self.view.page, rows[next].key) {
            self.view.page = Page::Process(index);
        }
    }

    fn selected_row(&self, rows: &[crate::table::Row]) -> Option<usize> {
        let selected = self.view.table.selected?;
        rows.iter().position(|row| row.key == selected)
    }

    /// Shows or hides the members of the chosen group.
    pub(super) fn expand(&mut self) {
        let rows = self.rows();
        let chosen = self.selected_row(&rows).map(|at| rows[at].key);
        let group = match chosen {
            Some(RowKey::Group(group)) => group,
            Some(RowKey::Process(_)) => return,
            // Nothing is chosen: the first group there is.
            None => match rows.iter().find_map(|row| match row.key {
                RowKey::Group(group) => Some(group),
                RowKey::Process(_) => None,
            }) {
                Some(group) => group,
                None => return,
            },
        };
        self.view.table.selected = Some(RowKey::Group(group));
        if !self.view.table.expanded.remove(&group) {
            self.view.table.expanded.insert(group);
        }
    }

    /// Opens what is chosen: the page of a process, the members of a group.
    pub(super) fn open(&mut self) {
        match self.view.table.selected {
            Some(RowKey::Process(index)) if self.run().process(index).is_some() => {
                self.view.page = Page::Process(index);
            }
            Some(RowKey::Group(_)) => self.expand(),
            _ => self.select(0),
        }
    }
}
