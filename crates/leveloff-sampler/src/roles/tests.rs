use std::path::{Path, PathBuf};

use super::*;
use crate::facts::{self, Depth};
use crate::proc_root::ProcRoot;

/// What a saved tree's roles.csv says.
struct Truth {
    pid: Pid,
    role: String,
    rank: Option<Rank>,
}

#[test]
fn every_saved_tree_is_named_right() {
    let trees = saved_trees();
    assert!(trees.len() >= 15, "fixtures are missing: {trees:?}");
    let misses: Vec<String> = trees.iter().flat_map(|tree| misses(tree, None)).collect();
    assert_eq!(misses, [""; 0]);
}

#[test]
fn naming_the_root_changes_no_right_answer() {
    for tree in saved_trees() {
        let root = truth(&tree)
            .into_iter()
            .find(|one| ["launcher", "trainer"].contains(&one.role.as_str()));
        assert_eq!(misses(&tree, root.map(|root| root.pid)), [""; 0]);
    }
}

/// Each process of a saved tree that is named wrong, in words.
fn misses(tree: &Path, root: Option<Pid>) -> Vec<String> {
    let truth = truth(tree);
    let proc_root = ProcRoot::at(tree);
    let facts: Vec<_> = truth
        .iter()
        .map(|one| facts::read(&proc_root, one.pid, Depth::Full).unwrap())
        .collect();
    let mut misses = Vec::new();
    for (one, said) in truth.iter().zip(assign(&facts, root)) {
        // Ranks that a program gave itself do not show outside; a rank that is said must be right.
        let wrong_rank = said.rank.is_some() && said.rank != one.rank;
        if said.role.name() != one.role || wrong_rank || said.why.is_empty() {
            misses.push(format!(
                "{}: {} is {} in truth; {said:?}",
                tree.display(),
                one.pid,
                one.role
            ));
        }
    }
    misses
}

fn saved_trees() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/proc");
    let mut trees: Vec<PathBuf> = std::fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("roles.csv").exists())
        .collect();
    trees.sort();
    trees
}

fn truth(tree: &Path) -> Vec<Truth> {
    let text = std::fs::read_to_string(tree.join("roles.csv")).unwrap();
    let row = |line: &str| {
        let mut cells = line.split(',');
        let mut cell = || cells.next().unwrap().to_owned();
        Truth {
            pid: Pid(cell().parse().unwrap()),
            role: cell(),
            rank: cell().parse().ok().map(Rank),
        }
    };
    text.lines().skip(1).map(row).collect()
}
