//! What the mouse does.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use crate::dashboard::Dashboard;
use crate::layout::{ClickTarget, Layout};
use crate::view::Page;

/// Zoom factor of one turn of the wheel.
const ZOOM: f64 = 0.8;

impl Dashboard {
    pub(super) fn on_mouse(&mut self, mouse: MouseEvent) {
        let place = match self.view.page {
            Page::Overview => Layout::of(self).target_at(mouse.column, mouse.row),
            // It covers what is at other times there to be clicked.
            _ => ClickTarget::Elsewhere,
        };
        match (mouse.kind, place) {
            (MouseEventKind::ScrollUp, ClickTarget::Chart) => self.zoom(ZOOM),
            (MouseEventKind::ScrollDown, ClickTarget::Chart) => self.zoom(1.0 / ZOOM),
            (MouseEventKind::ScrollUp, _) => self.go_down(-1),
            (MouseEventKind::ScrollDown, _) => self.go_down(1),
            (MouseEventKind::Down(MouseButton::Left), ClickTarget::Row(at)) => self.click_row(at),
            _ => {}
        }
    }

    /// The first click chooses a row, the second on the same opens it.
    fn click_row(&mut self, at: usize) {
        let rows = self.rows();
        let Some(row) = rows.get(at) else { return };
        if self.view.table.selected == Some(row.key) {
            self.open();
        } else {
            self.view.table.selected = Some(row.key);
        }
    }
}
