//! Where the server is.

use std::fmt;
use std::str::FromStr;

use crate::error::SetupError;

/// The address of a server that speaks Prometheus' HTTP API, without the path of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    url: String,
    /// It contained a login, which is not kept.
    had_login: bool,
}

impl Address {
    /// Where to ask for `path`, such as `query_range`.
    pub fn api(&self, path: &str) -> String {
        format!("{}/api/v1/{path}", self.url)
    }

    /// Refuses a login here and not while the arguments are parsed: an error of the parser prints the argument.
    pub(super) fn refuse_login(&self) -> Result<(), SetupError> {
        match self.had_login {
            true => Err(SetupError::LoginInAddress),
            false => Ok(()),
        }
    }

    /// Whether the server is this machine: nothing is gained by compressing what does not travel.
    pub fn is_loopback(&self) -> bool {
        let host = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or_default();
        host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.url)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        if !matches!(scheme, "http" | "https") {
            return Err(format!("'{scheme}' is not http or https"));
        }
        let rest = rest.trim_end_matches('/');
        let rest = rest.strip_suffix("/api/v1").unwrap_or(rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (had_login, rest) = match host.rfind('@') {
            Some(at) => (true, &rest[at + 1..]),
            None => (false, rest),
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.is_empty() || rest.contains(char::is_whitespace) || rest.contains(['?', '#']) {
            return Err("write the server's address, such as http://127.0.0.1:9090".to_owned());
        }
        Ok(Address {
            url: format!("{scheme}://{rest}"),
            had_login,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_a_path_and_lack_its_scheme() {
        let api = |text: &str| text.parse::<Address>().unwrap().api("query");
        assert_eq!(api("localhost:9090"), "http://localhost:9090/api/v1/query");
        assert_eq!(api("https://x/prom/"), "https://x/prom/api/v1/query");
        assert_eq!(api("http://x/api/v1"), "http://x/api/v1/query");
    }

    #[test]
    fn a_wrong_address_is_refused_and_a_password_is_not_repeated() {
        for wrong in ["", "ftp://x", "http://", "a b", "http://x/?q=1"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
        let address = "http://me:hunter2@x".parse::<Address>().unwrap();
        assert!(!format!("{address:?}").contains("hunter2"));
        let error = address.refuse_login().unwrap_err().to_string();
        assert!(error.contains("--user-file"), "{error}");
        assert!(
            "http://x"
                .parse::<Address>()
                .unwrap()
                .refuse_login()
                .is_ok()
        );
    }
}
