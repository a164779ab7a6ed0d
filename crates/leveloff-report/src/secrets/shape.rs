//! What looks like a secret, whatever it is called.

use std::ops::Range;

/// How tokens begin that say what they are, and how many characters follow at least: Hugging Face, OpenAI
/// and similar, GitHub, GitLab, AWS, Google, Slack, npm, PyPI, NVIDIA, Replicate, Groq, Weights & Biases.
const PREFIXES: [(usize, &str); 5] = [
    (8, "xoxa- xoxb- xoxp- xoxr- xoxs-"),
    (
        10,
        "hf_ api_org_ sk_live_ sk_test_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- wandb_v1_",
    ),
    (12, "AKIA ASIA"),
    (16, "sk- ya29. npm_ pypi- nvapi- r8_ gsk_"),
    (30, "AIza"),
];

/// So long a word of small letters alone is no word.
const LONG: usize = 30;

/// Each secret in a text.
pub(super) fn secrets_in(text: &str) -> Vec<Range<usize>> {
    let mut spans = prefixed(text);
    spans.extend(web_tokens(text));
    spans.extend(logins_of_urls(text));
    spans.extend(bearers(text));
    spans.extend(text.find("-----BEGIN").map(|at| at..text.len()));
    spans
}

fn prefixed(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let prefixes = PREFIXES.iter();
    let prefixes = prefixes.flat_map(|(least, all)| all.split(' ').map(move |it| (*least, it)));
    for (least, prefix) in prefixes {
        for (at, _) in text.match_indices(prefix) {
            let start = at + prefix.len();
            let length = run(&text[start..]);
            if begins_a_word(text, at) && length >= least && is_random(&text[start..start + length])
            {
                spans.push(at..start + length);
            }
        }
    }
    spans
}

/// Tokens have digits or capitals, or are very long; `hf_transformers` is a word.
fn is_random(text: &str) -> bool {
    text.len() >= LONG || text.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase())
}

/// JSON web tokens: three parts, the first of which begins with `{"` in base 64.
fn web_tokens(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices("eyJ");
    starts
        .filter_map(|(at, _)| {
            let rest = &text[at..];
            let length = rest
                .find(|c: char| !(is_of_token(c) || c == '.'))
                .unwrap_or(rest.len());
            let parts = rest[..length].split('.').count();
            (begins_a_word(text, at) && parts >= 3 && length >= 20).then(|| at..at + length)
        })
        .collect()
}

/// `user:password` and `token` of `https://user:password@host` and `https://token@host`.
fn logins_of_urls(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices("://");
    starts
        .filter_map(|(at, sign)| {
            let start = at + sign.len();
            let rest = &text[start..];
            let url = &rest[..rest.find(is_end_of_url).unwrap_or(rest.len())];
            let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
            // A password may have a slash in it; a port is a number.
            let port = authority.split_once(':').map(|(_, port)| port);
            let is_login = port.is_some_and(|port| !port.bytes().all(|b| b.is_ascii_digit()));
            let searched = if is_login { url } else { authority };
            searched.rfind('@').map(|end| start..start + end)
        })
        .filter(|span| !span.is_empty())
        .collect()
}

fn is_end_of_url(c: char) -> bool {
    c.is_whitespace() || "\"'`<>".contains(c)
}

/// What follows `Bearer` or `Basic` in a header.
fn bearers(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for word in ["Bearer ", "bearer ", "Basic "] {
        for (at, _) in text.match_indices(word) {
            let start = at + word.len();
            let length = run(&text[start..]);
            let value = &text[start..start + length];
            if length >= 8 && is_random(value) {
                let rest = &text[start..];
                let end = rest
                    .find(|c: char| c.is_whitespace() || "\"'`,;".contains(c))
                    .unwrap_or(rest.len());
                spans.push(start..start + end);
            }
        }
    }
    spans
}

fn begins_a_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_alphanumeric())
}

fn run(text: &str) -> usize {
    text.find(|c| !is_of_token(c)).unwrap_or(text.len())
}

fn is_of_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}
