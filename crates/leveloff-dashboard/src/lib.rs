//! The screen: state from events, drawing from state.
//!
//! One loop takes an [`event::Event`], changes the state, and draws. The source of ticks (a
//! sampler, a recording that grows, a replay) makes no difference here, and drawing never changes state.
//!
//! In reading order: [`event`] (what can happen), [`history`] (the curve in bounded memory), [`run`]
//! (what is known of the run), [`view`] (what the user has chosen to see), [`table`] (the processes as
//! rows), [`dashboard`] (the state of the screen), [`layout`] (the areas of the screen), [`theme`]
//! (colours and characters), [`chart`] (the curve), [`draw`] (everything on a frame), [`input`] (what
//! events do to the state), [`keyboard`] (bytes to keys), [`terminal`] (taken over and given back),
//! [`event_loop`] (all of it in turn). [`fleet_view`] is the state of another screen: many runs, worst
//! first. A module imports only modules that come before it.

pub mod chart;
pub mod dashboard;
pub mod draw;
pub mod event;
pub mod event_loop;
pub mod fleet_view;
pub mod history;
pub mod input;
pub mod keyboard;
pub mod layout;
pub mod run;
pub mod table;
pub mod terminal;
pub mod theme;
pub mod view;
