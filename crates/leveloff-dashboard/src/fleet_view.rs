//! A fleet on the screen: which run is chosen, and what the newest look gave.

use leveloff_text::fleet::{Fleet, Member};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What is shown of a fleet.
#[derive(Debug, Clone, Default)]
pub struct FleetView {
    fleet: Option<Fleet>,
    /// The chosen run, by its name: the order changes with every look.
    chosen: Option<String>,
    /// Why the newest look failed; what is shown is older.
    trouble: Option<String>,
    is_looking: bool,
}

/// What the user wants of the outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetWish {
    /// Nothing.
    Stay,
    /// To look again now.
    Look,
    /// To leave.
    Leave,
}

impl FleetView {
    /// A look begins.
    pub fn looking(&mut self) {
        self.is_looking = true;
    }

    /// What a look gave.
    pub fn show(&mut self, looked: Result<Fleet, String>) {
        self.is_looking = false;
        match looked {
            Ok(fleet) => {
                self.fleet = Some(fleet);
                self.trouble = None;
            }
            Err(trouble) => self.trouble = Some(trouble),
        }
    }

    /// Takes a key; `page` is how many rows are seen at once.
    pub fn on_key(&mut self, key: KeyEvent, page: usize) -> FleetWish {
        let page = page.max(1) as isize;
        match key.code {
            KeyCode::Char('q') => return FleetWish::Leave,
            KeyCode::Char('c' | 'd') if key.modifiers == KeyModifiers::CONTROL => {
                return FleetWish::Leave;
            }
            KeyCode::Char('r') => return FleetWish::Look,
            KeyCode::Up | KeyCode::Char('k') => self.choose(-1),
            KeyCode::Down | KeyCode::Char('j') => self.choose(1),
            KeyCode::PageUp => self.choose(-page),
            KeyCode::PageDown | KeyCode::Char(' ') => self.choose(page),
            KeyCode::Home | KeyCode::Char('g') => self.choose(isize::MIN / 2),
            KeyCode::End | KeyCode::Char('G') => self.choose(isize::MAX / 2),
            _ => {}
        }
        FleetWish::Stay
    }

    /// The newest fleet, once there was a look.
    pub fn fleet(&self) -> Option<&Fleet> {
        self.fleet.as_ref()
    }

    /// Its runs, worst first.
    pub fn members(&self) -> &[Member] {
        self.fleet.as_ref().map_or(&[], |fleet| &fleet.members)
    }

    /// The place of the chosen run; the worst, when none was chosen or it is gone.
    pub fn chosen(&self) -> usize {
        let is_chosen = |member: &Member| Some(&member.name) == self.chosen.as_ref();
        self.members().iter().position(is_chosen).unwrap_or(0)
    }

    /// What went wrong with the newest look.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Whether a look goes on.
    pub fn is_looking(&self) -> bool {
        self.is_looking
    }

    fn choose(&mut self, by: isize) {
        let last = self.members().len().saturating_sub(1) as isize;
        let place = (self.chosen() as isize).saturating_add(by).clamp(0, last);
        let member = self.members().get(place as usize);
        self.chosen = member.map(|member| member.name.clone());
    }
}
