//! The screen: state from events, drawing from state.
//!
//! One loop takes an [`event::Event`], changes the state, and draws. The source of ticks (a
//! sampler, a recording that grows, a replay) makes no difference here, and drawing never changes state.
//!
//! In reading order: [`event`] (what can happen), [`history`] (the curve in bounded memory), [`run`]
//! (what is known of the run), [`view`] (what the user looks at), [`dashboard`] (both, changed by
//! events), [`table`] (the processes as rows), [`layout`] (where everything stands), [`theme`] (how it
//! looks), [`chart`] (the curve), [`draw`] (all of it on a frame), [`keyboard`] (what was typed),
//! [`terminal`] (taken over and given back), [`event_loop`] (all of it in turn). [`fleet_view`] is the state of
//! another screen: many runs, worst first.

pub mod chart;
pub mod dashboard;
pub mod draw;
pub mod event;
pub mod event_loop;
pub mod fleet_view;
pub mod history;
pub mod keyboard;
pub mod layout;
pub mod run;
pub mod table;
pub mod terminal;
pub mod theme;
pub mod view;
