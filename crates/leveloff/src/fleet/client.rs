//! Asks the server, and asks again where that may help.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use leveloff_model::process::printable;
use ureq::http::header::{AUTHORIZATION, DATE, LOCATION};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, BodyReader, http};

use super::address::Address;
use super::answer::{self, Item};
use super::credentials::Credentials;
use super::trouble::Trouble;
use crate::cli::FleetArgs;

/// Between one attempt and the next. A server that restarts needs moments; who needs longer is down.
const WAITS: [Duration; 3] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
];

/// To reach it at all, names and handshakes included.
const CONNECTING: Duration = Duration::from_secs(10);

/// A whole answer, however steadily it drips.
const LONGEST_ANSWER: Duration = Duration::from_secs(600);

/// What is read of words that are not for us.
const WORDS: u64 = 64 << 10;

/// Its words on a line.
const FEW_WORDS: usize = 300;

/// A Prometheus, and how to talk to it.
pub struct Client {
    agent: Agent,
    address: Address,
    credentials: Option<Credentials>,
    patience: Duration,
    heard: Mutex<Heard>,
}

/// What was heard beside the answers.
#[derive(Debug, Clone, Default)]
struct Heard {
    /// The server's clock less ours.
    skew: Option<f64>,
    warnings: Vec<String>,
    /// The last request was given up: the next need not be as patient.
    is_down: bool,
}

impl Client {
    /// As the user asked for it.
    pub fn new(args: &FleetArgs) -> Result<Client> {
        args.prometheus.refuse_login()?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // Credentials go where they were meant for, and nowhere else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECTING))
            .timeout_recv_response(Some(args.timeout))
            .timeout_per_read(Some(args.timeout))
            .timeout_recv_body(Some(LONGEST_ANSWER))
            .user_agent(concat!("leveloff/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(trusted(args)?).build());
        if args.prometheus.is_loopback() {
            config = config.accept_encoding("identity").proxy(None);
        }
        Ok(Client {
            agent: config.build().new_agent(),
            address: args.prometheus.clone(),
            credentials: Credentials::of(args)?,
            patience: args.timeout,
            heard: Mutex::default(),
        })
    }

    /// Where it is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The server's time, in seconds since 1970, as far as it told.
    pub fn now(&self) -> f64 {
        own_time() + self.skew().unwrap_or(0.0)
    }

    /// How far the server's clock is ahead of ours, in seconds.
    pub fn skew(&self) -> Option<f64> {
        self.heard().skew
    }

    /// What the server warned of since the last time, each once.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.heard().warnings)
    }

    /// Asks, and hands out the items of the answer. Whatever comes of an attempt that fails is lost,
    /// so `begin` is called before each.
    pub fn ask<I: Item>(
        &self,
        path: &str,
        form: &[(&str, &str)],
        begin: &mut dyn FnMut(),
        take: &mut dyn FnMut(I) -> ControlFlow<()>,
    ) -> Result<(), Trouble> {
        let waits = if self.is_down() { &[] } else { &WAITS[..] };
        let mut waits = waits.iter();
        loop {
            begin();
            match (self.attempt(path, form, take), waits.next()) {
                (Err(trouble), Some(wait)) if trouble.may_pass() => thread::sleep(*wait),
                (result, _) => {
                    let is_down = matches!(&result, Err(trouble) if trouble.may_pass());
                    self.heard().is_down = is_down;
                    return result;
                }
            }
        }
    }

    /// Asks for a list that is known to be short.
    pub fn ask_all<I: Item>(&self, path: &str, form: &[(&str, &str)]) -> Result<Vec<I>, Trouble> {
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
    ) -> Result<(), Trouble> {
        let response = self.send(path, form);
        let response = response.map_err(|error| self.trouble(error))?;
        self.hear_time(&response);
        let (parts, body) = response.into_parts();
        let mut body =
            BufReader::with_capacity(64 << 10, body.into_with_config().limit(u64::MAX).reader());
        if parts.status != http::StatusCode::OK {
            return Err(refusal(&parts, body));
        }
        if let Some(title) = web_page(&mut body).map_err(|error| self.broken(&error))? {
            return Err(Trouble::Stranger(format!(
                "it answers with a web page{title}"
            )));
        }
        let envelope = answer::read(&mut body, take).map_err(|error| self.unreadable(&error))?;
        if let Some(words) = envelope.error {
            return Err(Trouble::Refused(few(&words)));
        }
        self.hear_warnings(envelope.warnings);
        Ok(())
    }

    /// Values of labels are told to who sends no form, everything else to who does: queries are long.
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

    fn trouble(&self, error: ureq::Error) -> Trouble {
        match error {
            ureq::Error::Timeout(_) => Trouble::Slow(self.patience),
            ureq::Error::Rustls(error) => Trouble::Untrusted(error.to_string()),
            ureq::Error::Tls(error) => Trouble::Untrusted(error.to_owned()),
            ureq::Error::HostNotFound => Trouble::Unreachable("no such host".to_owned()),
            ureq::Error::Protocol(error) => Trouble::Stranger(error.to_string()),
            ureq::Error::Io(error) => self.broken_before(&error),
            other => Trouble::Unreachable(other.to_string()),
        }
    }

    /// What went wrong before a word was said.
    fn broken_before(&self, error: &std::io::Error) -> Trouble {
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Trouble::Slow(self.patience),
            ErrorKind::InvalidData => Trouble::Untrusted(error.to_string()),
            _ => Trouble::Unreachable(error.to_string()),
        }
    }

    /// What went wrong in the middle.
    fn broken(&self, error: &std::io::Error) -> Trouble {
        let is_slow = matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
            || error.to_string().contains("timeout");
        match is_slow {
            true => Trouble::Slow(self.patience),
            false => Trouble::CutOff(error.to_string()),
        }
    }

    fn unreadable(&self, error: &serde_json::Error) -> Trouble {
        match error.classify() {
            serde_json::error::Category::Eof => Trouble::CutOff("its answer ends early".to_owned()),
            serde_json::error::Category::Io => {
                self.broken(&std::io::Error::other(error.to_string()))
            }
            _ => Trouble::Stranger(few(&error.to_string())),
        }
    }

    fn is_down(&self) -> bool {
        self.heard().is_down
    }

    fn hear_time(&self, response: &http::Response<ureq::Body>) {
        let date = response
            .headers()
            .get(DATE)
            .and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
        if let Some(date) = date {
            let skew = date.timestamp().as_millisecond() as f64 / 1000.0 - own_time();
            self.heard().skew.get_or_insert(skew);
        }
    }

    fn hear_warnings(&self, warnings: Vec<String>) {
        let mut heard = self.heard();
        for warning in warnings {
            let warning = few(&warning);
            if !heard.warnings.contains(&warning) {
                heard.warnings.push(warning);
            }
        }
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn trusted(args: &FleetArgs) -> Result<RootCerts> {
    let Some(path) = &args.ca_file else {
        return Ok(RootCerts::PlatformVerifier);
    };
    let certificates = certificates(path)?;
    if certificates.is_empty() {
        bail!(
            "{} has no certificate; it must be in PEM form",
            path.display()
        );
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

fn certificates(path: &Path) -> Result<Vec<ureq::tls::Certificate<'static>>> {
    let pem = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut found = Vec::new();
    for item in parse_pem(&pem) {
        let item = item.with_context(|| format!("cannot read {}", path.display()))?;
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
fn refusal(parts: &http::response::Parts, body: impl Read) -> Trouble {
    let status = parts.status.as_u16();
    let words = words(body);
    let after = |words: String| match &*words {
        "" => words,
        _ => format!(": {words}"),
    };
    match status {
        401 => Trouble::Unauthorised,
        403 => Trouble::Forbidden(after(words)),
        300..=399 => {
            let to = parts.headers.get(LOCATION).and_then(|to| to.to_str().ok());
            // Whatever stands behind the path may be a secret of the login page's.
            let to = to.and_then(|to| to.split('?').next()).unwrap_or("nowhere");
            Trouble::Redirected(few(to))
        }
        404 => Trouble::Stranger("it knows no such page (404)".to_owned()),
        // Prometheus tells that a query took too long or is too big with 422 and 503.
        400 | 422 => Trouble::Refused(match &*words {
            "" => format!("it does not say why ({status})"),
            _ => words,
        }),
        429 | 500..=599 => Trouble::Server {
            status,
            words: after(words),
        },
        _ => Trouble::Stranger(format!("it answers with status {status}")),
    }
}

/// What an error says: its own words, or the beginning of whatever it sent.
fn words(body: impl Read) -> String {
    let mut text = Vec::new();
    // Half of the words is better than none.
    let _ = body.take(WORDS).read_to_end(&mut text);
    let envelope = answer::read::<String>(&*text, &mut |_| ControlFlow::Continue(()));
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

/// A stranger's words, fit for a line of ours.
fn few(words: &str) -> String {
    let line: String = words.trim().chars().take(FEW_WORDS).collect();
    printable(line.as_bytes())
}
