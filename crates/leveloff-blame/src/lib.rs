//! Which line of a program allocates what stays.
//!
//! A library that is preloaded into the program samples its heap (`preload/`, built by the build script and embedded
//! here); this crate prepares it and reads what it writes:
//!
//! - [`preload`]: puts the library where the program can load it, and says why it cannot;
//! - [`attach`]: adds it to a Python program that runs already;
//! - [`segment`]: the file that the library writes, as values;
//! - [`line_table`]: Python's line tables;
//! - [`symbols`]: names of native functions;
//! - [`site_table`]: stacks, added up by line of the program;
//! - [`collector`]: does all that while the program runs, and makes events of a recording from it.

pub mod attach;
pub mod collector;
#[path = "../preload/layout.rs"]
#[allow(dead_code, reason = "the library uses the rest")]
mod layout;
pub mod line_table;
pub mod preload;
pub mod segment;
pub mod site_table;
pub mod symbols;

#[cfg(test)]
#[path = "../preload/arithmetic.rs"]
mod arithmetic;
#[cfg(test)]
mod attached_tests;
#[cfg(test)]
mod preload_tests;
