//! The trainer as a user runs it: the built program, its output, its files, its exit codes.

mod bad_input;
mod disobedient;
mod full_disk;
mod marks;
mod memory;
mod numbers;
mod ranks;
mod stopping;
mod trainer;
