//! Credentials for the server. They are never printed, not even by `Debug`.

use std::fmt;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;

use super::client_options::ClientOptions;
use crate::error::SetupError;

/// A token for `Authorization: Bearer`.
const TOKEN: &str = "LEVELOFF_PROMETHEUS_TOKEN";
/// A name for basic authentication.
const USER: &str = "LEVELOFF_PROMETHEUS_USER";
/// Its password.
const PASSWORD: &str = "LEVELOFF_PROMETHEUS_PASSWORD";

/// The value of the header `Authorization`.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials(String);

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(…)")
    }
}

impl Credentials {
    /// From the files in the options, else from the environment.
    pub fn of(options: &ClientOptions) -> Result<Option<Credentials>, SetupError> {
        if let Some(path) = &options.bearer_file {
            return Ok(Some(Credentials::bearer(&first_line(path)?)));
        }
        if let Some(path) = &options.user_file {
            let line = first_line(path)?;
            let Some((user, password)) = line.split_once(':') else {
                return Err(SetupError::File {
                    path: path.clone(),
                    reason: "has no colon; write USER:PASSWORD in it".to_owned(),
                });
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

fn first_line(path: &Path) -> Result<String, SetupError> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| SetupError::unreadable(path, &error))?;
    match text.lines().next().map(str::trim) {
        Some(line) if !line.is_empty() && line.is_ascii() => Ok(line.to_owned()),
        _ => Err(SetupError::File {
            path: path.to_owned(),
            reason: "has no secret in its first line".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_file(content: &str) -> Result<Option<Credentials>, SetupError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, content).unwrap();
        Credentials::of(&ClientOptions {
            address: "http://127.0.0.1:9090".parse().unwrap(),
            bearer_file: None,
            user_file: Some(path),
            ca_file: None,
            timeout: std::time::Duration::from_secs(1),
        })
    }

    #[test]
    fn basic_is_encoded_as_the_standard_says() {
        let credentials = of_file("Aladdin:open sesame\n").unwrap().unwrap();
        assert_eq!(credentials.header(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    #[test]
    fn debug_output_has_no_secrets() {
        let shown = format!("{:?}", of_file("user:secret").unwrap());
        assert!(
            !shown.contains("secret") && !shown.contains("dXNlc"),
            "{shown}"
        );
        let error = of_file("hunter2").unwrap_err().to_string();
        assert!(
            error.contains("USER:PASSWORD") && !error.contains("hunter2"),
            "{error}"
        );
    }
}
