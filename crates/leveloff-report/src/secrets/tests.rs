//! Command lines with and without secrets.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(command: &str, expected: &str) {
    let args: Vec<String> = command.split(' ').map(str::to_owned).collect();
    assert_eq!(masked(&args).join(" "), expected);
}

#[test]
fn values_whose_names_speak_of_a_secret_are_masked() {
    check("x --token abc --lr 3", "x --token *** --lr 3");
    check("x --api-key=abc", "x --api-key=***");
    check("HF_TOKEN=abc python t.py", "HF_TOKEN=*** python t.py");
    check("x +hub.token=a=b", "x +hub.token=***");
    check("x --password -abc", "x --password ***");
    check("x --token --force", "x --token --force");
    check("x --use_auth_token True", "x --use_auth_token True");
    check("curl -u ann:pw host", "curl -u ann:*** host");
    check("wandb login 0123456789abcdef", "wandb login ***");
}

#[test]
fn names_that_only_sound_alike_are_left_alone() {
    for command in [
        "python -u train.py --tokenizer gpt2 --max-tokens 512 --num-tokens=7 --author ann",
        "x --pad-token <pad> --text-key content tokens=3",
        "x --model hf_transformers/big --skip sk-learn-is-a-long-word",
        "x http://localhost:8080/@scope/name --ratio 1:2",
    ] {
        check(command, command);
    }
}

#[test]
fn what_looks_like_a_secret_is_masked_wherever_it_stands() {
    for secret in [
        "hf_AbCdEfGhIjKlMnOpQrSt",
        "sk-proj-abcdEFGH1234_5678-x",
        "ghp_0123456789abcdefABCD",
        "github_pat_11ABCDEFG0_abcdef",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-123456789012-abc",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_1",
    ] {
        check(&format!("x {secret} y"), "x *** y");
        check(&format!("x --name=a,{secret},b"), "x --name=a,***,b");
        assert_eq!(masked_text(&format!("(see '{secret}')")), "(see '***')");
    }
}

#[test]
fn logins_of_urls_are_masked() {
    check("x https://ann:pw@host/p", "x https://***@host/p");
    check(
        "x postgres://ann:p/w@db:5432/x",
        "x postgres://***@db:5432/x",
    );
    check(
        "git clone https://tok3n@host/r.git",
        "git clone https://***@host/r.git",
    );
    check("x https://h/a?b=a@c", "x https://h/a?b=a@c");
    check("x https://h/a?token=abc&x=1", "x https://h/a?token=***&x=1");
}

#[test]
fn texts_within_arguments_are_looked_through() {
    for (text, expected) in [
        ("login(token='abc', n=3)", "login(token='***', n=3)"),
        (
            "os.environ['HF_TOKEN'] = \"abc\"",
            "os.environ['HF_TOKEN'] = \"***\"",
        ),
        (
            r#"{"api_key": "a b", "lr": 1}"#,
            r#"{"api_key": "***", "lr": 1}"#,
        ),
        ("Authorization: Bearer abc", "Authorization: ***"),
        ("X: Bearer abcdefgh12+/=", "X: Bearer ***"),
        (
            "HF_TOKEN=abc python t.py --token xyz",
            "HF_TOKEN=*** python t.py --token ***",
        ),
        ("token=None", "token=None"),
    ] {
        assert_eq!(masked_text(text), expected);
        let args = ["-c".to_owned(), text.to_owned()];
        assert!(!masked(&args)[1].contains("abc"));
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(args in proptest::collection::vec(".{0,40}", 0..5)) {
        prop_assert_eq!(masked(&args).len(), args.len());
    }

    #[test]
    fn no_punctuation_makes_it_panic(text in "[-=:'\"/@. tokenTOKEN_hfé…]{0,60}") {
        masked_text(&text);
    }

    #[test]
    fn a_secret_never_comes_through(
        secret in "[A-Z][a-z0-9]{14}Q[0-9]{4}",
        before in "[ -~]{0,20}",
        after in "[ -~]{0,20}",
    ) {
        let token = format!("{before} hf_{secret} {after}");
        prop_assert!(!masked_text(&token).contains(&secret));
        let args = ["--token".to_owned(), secret.clone(), format!("API_KEY={secret}{after}")];
        prop_assert!(!masked(&args).concat().contains(&secret));
    }

    #[test]
    fn masking_twice_is_masking_once(text in "[-=:'\"/@. a-z]{0,60}") {
        let once = masked_text(&text);
        prop_assert_eq!(masked_text(&once), once);
    }
}
