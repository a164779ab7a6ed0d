//! The command `leveloff`: its parts that are more than arguments and wiring.

pub mod launch;
