//! The state of the fleet screen: the newest result and the selected run.

use leveloff_text::fleet::{Fleet, Member};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What is shown of a fleet.
#[derive(Debug, Clone, Default)]
pub struct FleetView {
    fleet: Option<Fleet>,
    /// The selected run, by its name: the order changes with every query.
    selected: Option<String>,
    /// Why the newest query failed; the fleet that is shown is older.
    error: Option<String>,
    is_querying: bool,
}

/// What the caller has to do after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetAction {
    /// Nothing.
    None,
    /// Query again now.
    Refresh,
    /// Leave the screen.
    Quit,
}

impl FleetView {
    /// A query begins.
    pub fn begin_query(&mut self) {
        self.is_querying = true;
    }

    /// Takes the result of a query.
    pub fn show(&mut self, looked: Result<Fleet, String>) {
        self.is_querying = false;
        match looked {
            Ok(fleet) => {
                self.fleet = Some(fleet);
                self.error = None;
            }
            Err(error) => self.error = Some(error),
        }
    }

    /// Takes a key; `page` is how many rows are seen at once.
    pub fn on_key(&mut self, key: KeyEvent, page: usize) -> FleetAction {
        let page = page.max(1) as isize;
        match key.code {
            KeyCode::Char('q') => return FleetAction::Quit,
            KeyCode::Char('c' | 'd') if key.modifiers == KeyModifiers::CONTROL => {
                return FleetAction::Quit;
            }
            KeyCode::Char('r') => return FleetAction::Refresh,
            KeyCode::Up | KeyCode::Char('k') => self.select(-1),
            KeyCode::Down | KeyCode::Char('j') => self.select(1),
            KeyCode::PageUp => self.select(-page),
            KeyCode::PageDown | KeyCode::Char(' ') => self.select(page),
            KeyCode::Home | KeyCode::Char('g') => self.select(isize::MIN / 2),
            KeyCode::End | KeyCode::Char('G') => self.select(isize::MAX / 2),
            _ => {}
        }
        FleetAction::None
    }

    /// The newest fleet; `None` before the first result.
    pub fn fleet(&self) -> Option<&Fleet> {
        self.fleet.as_ref()
    }

    /// Its runs, worst first.
    pub fn members(&self) -> &[Member] {
        self.fleet.as_ref().map_or(&[], |fleet| &fleet.members)
    }

    /// The index of the selected run; the worst, when none was selected or it is gone.
    pub fn selected(&self) -> usize {
        let is_chosen = |member: &Member| Some(&member.name) == self.selected.as_ref();
        self.members().iter().position(is_chosen).unwrap_or(0)
    }

    /// Why the newest query failed.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Whether a query is running.
    pub fn is_querying(&self) -> bool {
        self.is_querying
    }

    fn select(&mut self, by: isize) {
        let last = self.members().len().saturating_sub(1) as isize;
        let place = (self.selected() as isize).saturating_add(by).clamp(0, last);
        let member = self.members().get(place as usize);
        self.selected = member.map(|member| member.name.clone());
    }
}
