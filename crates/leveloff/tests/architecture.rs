//! The structure of the workspace: which crate may depend on which, and no import cycles between the modules of a crate.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail by panicking, in its functions as well"
)]

#[path = "architecture/modules.rs"]
mod modules;
#[path = "architecture/paths.rs"]
mod paths;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use modules::Imports;

/// Which crate may depend on which. The trainer depends on none: its contract is the marks. The dashboard and the
/// reports take their words from the text crate, so that a verdict reads the same everywhere.
const ALLOWED: &[(&str, &[&str])] = &[
    ("leveloff-model", &[]),
    ("leveloff-progress", &["leveloff-model"]),
    ("leveloff-sampler", &["leveloff-model", "leveloff-progress"]),
    ("leveloff-classifier", &["leveloff-model"]),
    ("leveloff-blame", &["leveloff-model"]),
    ("leveloff-text", &["leveloff-classifier", "leveloff-model"]),
    (
        "leveloff-supervise",
        &["leveloff-model", "leveloff-sampler"],
    ),
    (
        "leveloff-report",
        &["leveloff-classifier", "leveloff-model", "leveloff-text"],
    ),
    (
        "leveloff-dashboard",
        &["leveloff-classifier", "leveloff-model", "leveloff-text"],
    ),
    (
        "leveloff-readers",
        &["leveloff-classifier", "leveloff-model", "leveloff-progress"],
    ),
    (
        "leveloff-prometheus",
        &["leveloff-classifier", "leveloff-model", "leveloff-text"],
    ),
    (
        "leveloff",
        &[
            "leveloff-blame",
            "leveloff-classifier",
            "leveloff-dashboard",
            "leveloff-model",
            "leveloff-progress",
            "leveloff-prometheus",
            "leveloff-readers",
            "leveloff-report",
            "leveloff-sampler",
            "leveloff-supervise",
            "leveloff-text",
        ],
    ),
    ("leveloff-trainer", &[]),
    (TESTKIT, &[]),
];

/// Builders for tests: every crate may use it, but only in its tests.
const TESTKIT: &str = "leveloff-testkit";

/// Modules of the command crate that may import `args`. All others get plain options.
const MAY_IMPORT_ARGS: [&str; 1] = ["commands"];

/// A dependency of one crate of the workspace on another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Arrow {
    from: String,
    to: String,
    is_for_tests: bool,
}

/// Every arrow that is not allowed, in words.
fn forbidden(arrows: &[Arrow]) -> Vec<String> {
    let allowed = BTreeMap::from_iter(ALLOWED.iter().copied());
    let is_allowed = |arrow: &Arrow| match arrow.to.as_str() {
        TESTKIT => arrow.is_for_tests,
        to => allowed
            .get(arrow.from.as_str())
            .is_some_and(|allowed| allowed.contains(&to)),
    };
    let forbidden = arrows.iter().filter(|arrow| !is_allowed(arrow));
    forbidden
        .map(|Arrow { from, to, .. }| format!("{from} → {to}"))
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every crate of the workspace, and every arrow between them, tests and build scripts included.
fn workspace() -> (Vec<String>, Vec<Arrow>) {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
            "--manifest-path",
        ])
        .arg(root().join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    let names = packages
        .iter()
        .map(|package| text(&package["name"]))
        .collect();
    let mut arrows = Vec::new();
    for package in packages {
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = text(&dependency["name"]);
            if to.starts_with("leveloff") {
                arrows.push(Arrow {
                    from: text(&package["name"]),
                    to,
                    is_for_tests: dependency["kind"] == "dev",
                });
            }
        }
    }
    (names, arrows)
}

fn arrow(from: &str, to: &str, is_for_tests: bool) -> Arrow {
    Arrow {
        from: from.to_owned(),
        to: to.to_owned(),
        is_for_tests,
    }
}

#[test]
fn no_crate_depends_on_one_above_it() {
    let (names, arrows) = workspace();
    assert!(names.contains(&"leveloff-sampler".to_owned()), "{names:?}");
    assert!(arrows.contains(&arrow("leveloff-sampler", "leveloff-model", false)));
    assert_eq!(forbidden(&arrows), Vec::<String>::new());
}

#[test]
fn every_crate_is_in_the_table() {
    let known: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    for name in workspace().0 {
        assert!(
            known.contains(&name.as_str()),
            "{name} is not in the table of allowed arrows"
        );
    }
}

#[test]
fn a_forbidden_arrow_is_found() {
    let arrows = [
        arrow("leveloff-model", "leveloff-sampler", false),
        arrow("leveloff-dashboard", "leveloff-sampler", false),
        arrow("leveloff-trainer", "leveloff-model", true),
        arrow("leveloff-report", TESTKIT, false),
        arrow("leveloff-report", TESTKIT, true),
        arrow("leveloff-sampler", "leveloff-model", false),
    ];
    assert_eq!(forbidden(&arrows).len(), 4);
}

/// Every import cycle of a crate, in words.
fn cycles(name: &str, imports: &Imports) -> Vec<String> {
    let cycles = imports.cycles().into_iter();
    cycles.map(|cycle| format!("{name}: {cycle}")).collect()
}

/// Modules that import each other are one module in several files: neither can be read, tested or moved without the other.
/// What counts is the import of one child of a module by another child of the same module, at every depth:
///
/// - An import goes from the file that has the path to the file that has the item, through any number of re-exports, so a
///   `pub use` in the parent hides nothing. It counts for the two children of the nearest common parent in which these
///   files are: `a/x.rs` that uses `crate::b::y::Y` is `a → b`.
/// - Between a parent and its child nothing counts, in either direction. The parent puts its children together, and a child
///   may use what its parent defines for all of them: that is what `super::` and private items are for.
/// - Tests, and modules whose names end with `tests`, may import anything.
#[test]
fn no_modules_of_a_crate_import_each_other() {
    let cycles: Vec<String> = workspace()
        .0
        .iter()
        .flat_map(|name| {
            let src = root().join("crates").join(name).join("src");
            cycles(name, &Imports::of_crate(&src))
        })
        .collect();
    assert_eq!(cycles, Vec::<String>::new(), "import cycles");
}

#[test]
fn only_commands_import_args() {
    let imports = Imports::of_crate(&root().join("crates/leveloff/src"));
    assert_eq!(imports.importers("args"), MAY_IMPORT_ARGS);
}

/// Imports of made-up files: their paths and contents.
fn imports_of(files: &[(&str, &str)]) -> Imports {
    let files: Vec<(Vec<String>, &str)> = files
        .iter()
        .map(|(path, text)| (path.split('/').map(str::to_owned).collect(), *text))
        .collect();
    Imports::of_files(files.iter().map(|(path, text)| (path.as_slice(), *text)))
}

#[test]
fn a_cycle_is_found_and_named() {
    let imports = imports_of(&[
        ("lib", "mod a;\nmod b;\nmod c;\npub use a::A;"),
        ("a", "use crate::b::B;"),
        ("b", "mod deep;"),
        ("b/deep", "use crate::{\n    c::{C, d},\n};"),
        ("c", "fn f() { super::a::g(); }"),
        ("d", "use crate::a::A;"),
    ]);
    assert_eq!(cycles("x", &imports), ["x: a → b → c → a"]);
    assert_eq!(imports.importers("a"), ["c", "d"]);
}

#[test]
fn a_cycle_of_siblings_is_found_at_any_depth() {
    let imports = imports_of(&[
        ("lib", "mod a;"),
        ("a", "mod x;\nmod y;"),
        ("a/x", "mod deep;"),
        ("a/x/deep", "use super::super::y::{self, Y as Z};"),
        ("a/y", "fn f() { crate::a::x::deep::g(); }"),
    ]);
    assert_eq!(cycles("x", &imports), ["x: a::x → a::y → a::x"]);
}

#[test]
fn a_re_export_of_the_parent_hides_no_cycle() {
    let parent = "mod x;\nmod y;\npub use x::{X, Other};\nuse y::Y as Z;";
    let imports = imports_of(&[
        ("lib", "mod a;\nmod b;\npub use a::y::Y;"),
        ("a", parent),
        ("a/x", "use super::Z;"),
        ("a/y", "use super::X;"),
        ("b", "use crate::Y;"),
    ]);
    assert_eq!(cycles("x", &imports), ["x: a::x → a::y → a::x"]);
    assert_eq!(imports.importers("a"), ["b"]);
}

#[test]
fn children_may_use_what_their_parent_defines() {
    let imports = imports_of(&[
        ("lib", "mod a;\npub struct Root;"),
        ("a", "use self::x::X;\nstruct Shared;\nfn f() { y::g(); }"),
        (
            "a/x",
            "use super::Shared;\nuse crate::Root;\nuse super::y::Y;",
        ),
        ("a/y", "use super::{Shared, f};\nuse std::fmt;"),
    ]);
    assert_eq!(cycles("x", &imports), Vec::<String>::new());
}

#[test]
fn comments_tests_and_a_modules_own_parts_are_no_imports() {
    let imports = imports_of(&[
        (
            "a",
            "//! See crate::b.\nmod x;\nuse self::x::X;\nuse crate::b::B;",
        ),
        ("a/x", "use super::Y;\nuse crate::a::Z;"),
        ("a/tests", "use crate::c::C;"),
        (
            "b",
            "// crate::a\nuse other_crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}",
        ),
        ("c", "use crate::b::B;"),
    ]);
    assert_eq!(cycles("x", &imports), Vec::<String>::new());
    assert_eq!(imports.importers("b"), ["a", "c"]);
    assert_eq!(imports.importers("a"), Vec::<&str>::new());
}
