use proptest::prelude::*;

use super::*;

fn own(text: &str) -> Result<Option<Config>, ConfigError> {
    Config::parse(Path::new("leveloff.toml"), text.as_bytes(), Flavour::Own)
}

fn pyproject(text: &str) -> Result<Option<Config>, ConfigError> {
    Config::parse(
        Path::new("pyproject.toml"),
        text.as_bytes(),
        Flavour::PyProject,
    )
}

/// `key = value` for each setting, as it is handed on.
fn settings(config: &Config) -> Vec<String> {
    let settings = config.settings().iter();
    settings
        .map(|setting| format!("{}={}", setting.key.name, setting.value.display()))
        .collect()
}

#[track_caller]
fn refused(found: Result<Option<Config>, ConfigError>, words: &str) {
    let error = found.unwrap_err().to_string();
    assert!(error.contains(words), "{words:?} is not in {error:?}");
}

const ALL: &str = r#"
level_by = 120
limit = "28GiB"
planned_steps = 600
epoch_steps = 100
step_regex = "round (?P<step>[0-9]+)"
interval = "1s"
pss_budget = 0.5
history = false
[check]
level_by = 90
max_level = "20GiB"
max_growth = "1MiB/step"
max_peak = "22GiB"
baseline = "leveloff-baseline.json"
undecided = "fail"
repeat = 3
name = "fine-tune"
history = true
"#;

#[test]
fn every_key_can_be_set() {
    let config = own(ALL).unwrap().unwrap();
    assert_eq!(config.settings().len(), keys::KEYS.len());
    let settings = settings(&config);
    let last_word = settings
        .iter()
        .rfind(|setting| setting.starts_with("level_by"));
    assert_eq!(last_word.unwrap(), "level_by=90");
    assert!(settings.contains(&"baseline=leveloff-baseline.json".to_owned()));
}

#[test]
fn nothing_set_is_a_file_all_the_same() {
    for text in ["", "# nothing yet\n", "[check]\n", "\u{feff}"] {
        assert_eq!(settings(&own(text).unwrap().unwrap()), [""; 0], "{text:?}");
    }
}

#[test]
fn a_file_that_is_named_lies_beside_the_one_that_names_it() {
    let file = Path::new("/project/leveloff.toml");
    let text = b"check.baseline = 'ci/base.json'";
    let config = Config::parse(file, text, Flavour::Own).unwrap().unwrap();
    assert_eq!(settings(&config), ["baseline=/project/ci/base.json"]);
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_known() {
    let text = "level_by = 90\n[check]\nmax_lvel = '20GiB'\n";
    let expected = "unknown key 'max_lvel' in leveloff.toml, line 3; did you mean 'max_level'?";
    assert_eq!(own(text).unwrap_err().to_string(), expected);
    refused(own("[chek]\nrepeat = 3\n"), "line 1; did you mean 'check'?");
    refused(own("max_peak = '1GiB'"), "it belongs in [check]");
    refused(
        own("tensors = 3"),
        "known in the top level of the file: level_by",
    );
    // The first in the file, not in the alphabet.
    refused(own("zebra = 1\naardvark = 1\n"), "'zebra'");
}

#[test]
fn an_invalid_value_is_reported_with_its_line() {
    let expected = "limit = 28 in leveloff.toml, line 2: '28' has no unit; write 28GiB";
    refused(own("\nlimit = 28"), expected);
    refused(own("limit = \"28\""), "limit = \"28\" in leveloff.toml");
    refused(own("level_by = 'soon'"), "level_by = 'soon' in");
    refused(
        own("\n\n[check]\nmax_growth = '1MiB'"),
        "check.max_growth = '1MiB' in leveloff.toml, line 4: 1MiB per what?",
    );
    refused(
        own("level_by = [\n1,\n2]"),
        "level_by = [… in leveloff.toml, line 1: a list",
    );
    refused(own("check = 3"), "write [check] above its keys");
    refused(own("[[check]]\nrepeat = 3"), "write [check] above its keys");
}

#[test]
fn invalid_toml_is_reported_with_its_line() {
    refused(
        own("level_by = 90\nlimit = \n"),
        "leveloff.toml, line 2 is not TOML: ",
    );
    refused(
        own("level_by = 90\nlevel_by = 91\n"),
        "line 2 is not TOML: duplicate key",
    );
    refused(own("[check\n"), "line 1 is not TOML");
    let latin = Config::parse(Path::new("x"), b"level_by = 9\nname = '\xe9'", Flavour::Own);
    refused(latin, "x, line 2 is not TOML: it is not UTF-8");
}

#[test]
fn only_our_table_of_a_pyproject_is_looked_at() {
    let text = "[project]\nname = 3\n[tool.black]\nline = 1\n[tool.leveloff]\nlevel_by = 90\n[tool.leveloff.check]\nrepeat = 2\n";
    let config = pyproject(text).unwrap().unwrap();
    assert_eq!(settings(&config), ["level_by=90", "repeat=2"]);
    refused(
        pyproject("[tool.leveloff]\nlevl_by = 90"),
        "pyproject.toml, line 2; did you mean 'level_by'?",
    );
    refused(
        pyproject("tool.leveloff = 3"),
        "write [tool.leveloff] above its keys",
    );
    for none in [
        "",
        "[project]\nname = 'x'\n",
        "[tool]\n",
        "tool = 3",
        "[tool.black]\n",
    ] {
        assert_eq!(pyproject(none).unwrap(), None, "{none}");
    }
}

#[test]
fn a_broken_pyproject_is_our_concern_only_if_it_speaks_of_us() {
    let broken = "[project\nname = \n";
    assert_eq!(pyproject(broken).unwrap(), None);
    let latin = Config::parse(Path::new("pyproject.toml"), b"\xe9", Flavour::PyProject);
    assert_eq!(latin.unwrap(), None);
    let with_us = format!("{broken}[tool.leveloff]\nlevel_by = 90\n");
    refused(pyproject(&with_us), "pyproject.toml, line 1 is not TOML");
    refused(
        pyproject("[tool.leveloff\nlevel_by = 90\n"),
        "line 1 is not TOML",
    );
    refused(
        pyproject("[tool]\nleveloff = { limit = }\n"),
        "line 2 is not TOML",
    );
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for flavour in [Flavour::Own, Flavour::PyProject] {
            let _ = Config::parse(Path::new("x"), &bytes, flavour);
        }
    }

    #[test]
    fn nothing_like_toml_makes_it_panic(
        lines in prop::collection::vec("(level_by|limit|\\[check\\]|\\[tool.leveloff\\]|\\PC{0,8}) ?=? ?(['\"\\[{]?\\PC{0,8}['\"\\]}]?|[0-9xob_.e+-]{0,9})", 0..8)
    ) {
        let text = lines.join("\n");
        for flavour in [Flavour::Own, Flavour::PyProject] {
            if let Err(error) = Config::parse(Path::new("x"), text.as_bytes(), flavour) {
                prop_assert!(error.to_string().contains("x, line "));
            }
        }
    }
}
