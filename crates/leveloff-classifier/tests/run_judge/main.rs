//! The run judge on made-up and on recorded runs.

mod change_of_clock;
mod clock;
mod clock_matrix;
mod evidence;
mod hardship;
mod inside;
mod made_up;
mod outside_memory;
mod piling_up;
mod trace;
mod traces;
