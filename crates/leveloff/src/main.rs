//! Does the memory of this training run level off, or does it leak?

fn main() {}
