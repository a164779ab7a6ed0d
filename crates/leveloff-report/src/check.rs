//! A check of one or several runs, in every format.

pub mod github;
pub mod gitlab;
pub mod json;
pub mod junit;
pub mod report;
pub mod results;
pub mod text;
pub mod words;
