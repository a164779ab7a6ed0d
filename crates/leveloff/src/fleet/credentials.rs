//! Who we are to the server. Never printed, not even by a programmer.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;

use crate::cli::FleetArgs;

/// A token for `Authorization: Bearer`.
const TOKEN: &str = "LEVELOFF_PROMETHEUS_TOKEN";
/// A name for basic authentication.
const USER: &str = "LEVELOFF_PROMETHEUS_USER";
/// Its password.
const PASSWORD: &str = "LEVELOFF_PROMETHEUS_PASSWORD";

/// The value of the header that tells who we are.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials(String);

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(…)")
    }
}

impl Credentials {
    /// From the files that were named, else from the environment; `None` when nobody told.
    pub fn of(args: &FleetArgs) -> Result<Option<Credentials>> {
        if let Some(path) = &args.bearer_file {
            return Ok(Some(Credentials::bearer(&first_line(path)?)));
        }
        if let Some(path) = &args.user_file {
            let line = first_line(path)?;
            let Some((user, password)) = line.split_once(':') else {
                bail!("{} has no colon; write USER:PASSWORD in it", path.display());
            };
            return Ok(Some(Credentials::basic(user, password)));
        }
        let variable = |name| {
            std::env::var(name)
                .ok()
                .filter(|value: &String| !value.is_empty())
        };
        Ok(match (variable(TOKEN), variable(USER)) {
            (Some(token), _) => Some(Credentials::bearer(&token)),
            (None, Some(user)) => {
                let password = variable(PASSWORD).unwrap_or_default();
                Some(Credentials::basic(&user, &password))
            }
            (None, None) => None,
        })
    }

    /// For the header `Authorization`.
    pub fn header(&self) -> &str {
        &self.0
    }

    fn bearer(token: &str) -> Credentials {
        Credentials(format!("Bearer {}", token.trim()))
    }

    fn basic(user: &str, password: &str) -> Credentials {
        let both = STANDARD.encode(format!("{user}:{password}"));
        Credentials(format!("Basic {both}"))
    }
}

fn first_line(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    match text.lines().next().map(str::trim) {
        Some(line) if !line.is_empty() && line.is_ascii() => Ok(line.to_owned()),
        _ => bail!("{} has no secret in its first line", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_file(content: &str) -> Result<Option<Credentials>> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("secret");
        std::fs::write(&path, content).unwrap();
        Credentials::of(&FleetArgs {
            user_file: Some(path),
            ..FleetArgs::default()
        })
    }

    #[test]
    fn basic_is_what_everybody_sends() {
        let credentials = of_file("Aladdin:open sesame\n").unwrap().unwrap();
        assert_eq!(credentials.header(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    #[test]
    fn secrets_are_not_told_to_programmers_either() {
        let told = format!("{:?}", of_file("user:secret").unwrap());
        assert!(
            !told.contains("secret") && !told.contains("dXNlc"),
            "{told}"
        );
        let error = of_file("hunter2").unwrap_err().to_string();
        assert!(
            error.contains("USER:PASSWORD") && !error.contains("hunter2"),
            "{error}"
        );
    }
}
