//! The commands of leveloff, one module each.

pub mod doctor;
