//! Asks the server, and asks again where that may help.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, SystemTime};

use leveloff_model::process::printable;
use ureq::http::header::{AUTHORIZATION, DATE, LOCATION};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, BodyReader, http};

use super::address::Address;
use super::client_options::ClientOptions;
use super::credentials::Credentials;
use super::error::QueryError;
use super::response::{self, Item};
use crate::error::SetupError;

/// Between one attempt and the next. A server that restarts needs moments; one that needs longer is down.
const WAITS: [Duration; 3] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
];

/// To reach it at all, names and handshakes included.
const CONNECTING: Duration = Duration::from_secs(10);

/// A whole answer, however steadily it drips.
const LONGEST_ANSWER: Duration = Duration::from_secs(600);

/// Bytes that are read of an error page.
const WORDS: u64 = 64 << 10;

/// Characters of it that are printed.
const FEW_WORDS: usize = 300;

/// A connection to a server that speaks Prometheus' HTTP API.
pub struct Client {
    agent: Agent,
    address: Address,
    credentials: Option<Credentials>,
    patience: Duration,
    facts: Mutex<ServerFacts>,
}

/// What the server said beside its answers.
#[derive(Debug, Clone, Default)]
struct ServerFacts {
    /// The server's clock less ours.
    skew: Option<f64>,
    warnings: Vec<String>,
    /// The last request was given up: the next one waits for a shorter time.
    is_down: bool,
}

impl Client {
    /// Reads credentials and certificates. Nothing is sent to the server yet.
    ///
    /// # Errors
    /// If a file cannot be used, or the address contains a password.
    pub fn new(options: &ClientOptions) -> Result<Client, SetupError> {
        options.address.refuse_login()?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // Credentials go where they were meant for, and nowhere else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECTING))
            .timeout_recv_response(Some(options.timeout))
            .timeout_per_read(Some(options.timeout))
            .timeout_recv_body(Some(LONGEST_ANSWER))
            .user_agent(concat!("leveloff/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(trusted(options)?).build());
        if options.address.is_loopback() {
            config = config.accept_encoding("identity").proxy(None);
        }
        Ok(Client {
            agent: config.build().new_agent(),
            address: options.address.clone(),
            credentials: Credentials::of(options)?,
            patience: options.timeout,
            facts: Mutex::default(),
        })
    }

    /// The address of the server.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The server's time, in seconds since 1970; ours before its first answer.
    pub fn now(&self) -> f64 {
        own_time() + self.skew().unwrap_or(0.0)
    }

    /// How far the server's clock is ahead of ours, in seconds.
    pub fn skew(&self) -> Option<f64> {
        self.facts().skew
    }

    /// What the server warned of since the last time, each once.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.facts().warnings)
    }

    /// Asks, and hands out the items of the answer. Whatever comes of an attempt that fails is lost,
    /// so `begin` is called before each.
    pub fn ask<I: Item>(
        &self,
        path: &str,
        form: &[(&str, &str)],
        begin: &mut dyn FnMut(),
        take: &mut dyn FnMut(I) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let waits = if self.is_down() { &[] } else { &WAITS[..] };
        let mut waits = waits.iter();
        loop {
            begin();
            match (self.attempt(path, form, take), waits.next()) {
                (Err(error), Some(wait)) if error.is_temporary() => thread::sleep(*wait),
                (result, _) => {
                    let is_down = matches!(&result, Err(error) if error.is_temporary());
                    self.facts().is_down = is_down;
                    return result;
                }
            }
        }
    }

    /// Asks for a list that is known to be short.
    pub fn ask_all<I: Item>(
        &self,
        path: &str,
        form: &[(&str, &str)],
    ) -> Result<Vec<I>, QueryError> {
        let items = std::cell::RefCell::new(Vec::new());
        self.ask(
            path,
            form,
            &mut || items.borrow_mut().clear(),
            &mut |item| {
                items.borrow_mut().push(item);
                ControlFlow::Continue(())
            },
        )?;
        Ok(items.into_inner())
    }

    fn attempt<I: Item>(
        &self,
        path: &str,
        form: &[(&str, &str)],
        take: &mut dyn FnMut(I) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let response = self.send(path, form);
        let response = response.map_err(|error| self.request_failed(error))?;
        self.note_time(&response);
        let (parts, body) = response.into_parts();
        let mut body =
            BufReader::with_capacity(64 << 10, body.into_with_config().limit(u64::MAX).reader());
        if parts.status != http::StatusCode::OK {
            return Err(refusal(&parts, body));
        }
        if let Some(title) = web_page(&mut body).map_err(|error| self.broken(&error))? {
            return Err(QueryError::NotPrometheus(format!(
                "it answers with a web page{title}"
            )));
        }
        let envelope = response::read(&mut body, take).map_err(|error| self.unreadable(error))?;
        if let Some(words) = envelope.error {
            return Err(QueryError::Refused(few(&words)));
        }
        self.note_warnings(envelope.warnings);
        Ok(())
    }

    /// Label values are requested by GET, which the API requires; everything else by POST, because queries are long.
    fn send(
        &self,
        path: &str,
        form: &[(&str, &str)],
    ) -> Result<http::Response<ureq::Body>, ureq::Error> {
        let url = self.address.api(path);
        let form = form.iter().copied();
        let who = self.credentials.as_ref().map(Credentials::header);
        if path.starts_with("label/") {
            let request = self.agent.get(url).query_pairs(form);
            let request = who
                .into_iter()
                .fold(request, |request, who| request.header(AUTHORIZATION, who));
            return request.call();
        }
        let request = self.agent.post(url);
        let request = who
            .into_iter()
            .fold(request, |request, who| request.header(AUTHORIZATION, who));
        request.send_form(form)
    }

    fn request_failed(&self, error: ureq::Error) -> QueryError {
        match error {
            ureq::Error::Timeout(_) => QueryError::Slow(self.patience),
            ureq::Error::Rustls(error) => QueryError::Tls(error.to_string()),
            ureq::Error::Tls(error) => QueryError::Tls(error.to_owned()),
            ureq::Error::HostNotFound => QueryError::Unreachable("no such host".to_owned()),
            ureq::Error::Protocol(error) => QueryError::NotPrometheus(error.to_string()),
            ureq::Error::Io(error) => self.broken_before(&error),
            other => QueryError::Unreachable(other.to_string()),
        }
    }

    /// What went wrong before anything was sent.
    fn broken_before(&self, error: &std::io::Error) -> QueryError {
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => QueryError::Slow(self.patience),
            ErrorKind::InvalidData => QueryError::Tls(error.to_string()),
            _ => QueryError::Unreachable(error.to_string()),
        }
    }

    /// What went wrong in the middle.
    fn broken(&self, error: &std::io::Error) -> QueryError {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        let is_timeout = matches!(inner, Some(ureq::Error::Timeout(_)));
        match is_timeout || matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) {
            true => QueryError::Slow(self.patience),
            false => QueryError::CutOff(error.to_string()),
        }
    }

    fn unreadable(&self, error: serde_json::Error) -> QueryError {
        match error.classify() {
            serde_json::error::Category::Eof => {
                QueryError::CutOff("its answer ends early".to_owned())
            }
            serde_json::error::Category::Io => self.broken(&error.into()),
            _ => QueryError::NotPrometheus(few(&error.to_string())),
        }
    }

    fn is_down(&self) -> bool {
        self.facts().is_down
    }

    fn note_time(&self, response: &http::Response<ureq::Body>) {
        let date = response
            .headers()
            .get(DATE)
            .and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
        if let Some(date) = date {
            let skew = date.timestamp().as_millisecond() as f64 / 1000.0 - own_time();
            self.facts().skew.get_or_insert(skew);
        }
    }

    fn note_warnings(&self, warnings: Vec<String>) {
        let mut facts = self.facts();
        for warning in warnings {
            let warning = few(&warning);
            if !facts.warnings.contains(&warning) {
                facts.warnings.push(warning);
            }
        }
    }

    fn facts(&self) -> std::sync::MutexGuard<'_, ServerFacts> {
        self.facts
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn trusted(options: &ClientOptions) -> Result<RootCerts, SetupError> {
    let Some(path) = &options.ca_file else {
        return Ok(RootCerts::PlatformVerifier);
    };
    let certificates = certificates(path)?;
    if certificates.is_empty() {
        return Err(SetupError::File {
            path: path.clone(),
            reason: "has no certificate; it must be in PEM form".to_owned(),
        });
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

fn certificates(path: &Path) -> Result<Vec<ureq::tls::Certificate<'static>>, SetupError> {
    let pem = std::fs::read(path).map_err(|error| SetupError::unreadable(path, &error))?;
    let mut found = Vec::new();
    for item in parse_pem(&pem) {
        let item = item.map_err(|error| SetupError::unreadable(path, &error))?;
        if let PemItem::Certificate(certificate) = item {
            found.push(certificate);
        }
    }
    Ok(found)
}

fn own_time() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// What a status other than 200 means.
fn refusal(parts: &http::response::Parts, body: impl Read) -> QueryError {
    let status = parts.status.as_u16();
    let words = words(body);
    let after = |words: String| match &*words {
        "" => words,
        _ => format!(": {words}"),
    };
    match status {
        401 => QueryError::Unauthorised,
        403 => QueryError::Forbidden(after(words)),
        300..=399 => {
            let to = parts.headers.get(LOCATION).and_then(|to| to.to_str().ok());
            // Whatever stands behind the path may be a secret of the login page's.
            let to = to.and_then(|to| to.split('?').next()).unwrap_or("nowhere");
            QueryError::Redirected(few(to))
        }
        404 => QueryError::NotPrometheus("it has no such page (404)".to_owned()),
        // Prometheus answers a query that takes too long or is too big with 422 or 503.
        400 | 422 => QueryError::Refused(match &*words {
            "" => format!("it does not say why ({status})"),
            _ => words,
        }),
        429 | 500..=599 => QueryError::Server {
            status,
            words: after(words),
        },
        _ => QueryError::NotPrometheus(format!("it answers with status {status}")),
    }
}

/// What an error says: its own words, or the beginning of whatever it sent.
fn words(body: impl Read) -> String {
    let mut text = Vec::new();
    // Half of the words is better than none.
    let _ = body.take(WORDS).read_to_end(&mut text);
    let envelope = response::read::<String>(&*text, &mut |_| ControlFlow::Continue(()));
    match envelope.ok().and_then(|envelope| envelope.error) {
        Some(error) => few(&error),
        None if text.trim_ascii_start().starts_with(b"<") => String::new(),
        None => few(&String::from_utf8_lossy(&text)),
    }
}

/// The title, as ` ("Sign in")`, if it is a web page that begins here.
fn web_page(body: &mut BufReader<BodyReader>) -> std::io::Result<Option<String>> {
    let beginning = body.fill_buf()?;
    if !beginning.trim_ascii_start().starts_with(b"<") {
        return Ok(None);
    }
    let page = String::from_utf8_lossy(beginning);
    let title = page
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split_once("</title>"));
    Ok(Some(title.map_or_else(String::new, |(title, _)| {
        format!(" (\"{}\")", few(title.trim()))
    })))
}

/// Text of the server, made fit for one line.
fn few(words: &str) -> String {
    let line: String = words.trim().chars().take(FEW_WORDS).collect();
    printable(line.as_bytes())
}
