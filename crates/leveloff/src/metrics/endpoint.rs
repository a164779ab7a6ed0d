//! The endpoint: HTTP on a thread of its own, which no client can keep busy for long.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::board::Board;
use super::reply::reply;
use crate::notice::notice;

/// An address that is ours, at which nobody is answered yet.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    address: SocketAddr,
}

/// Answers whoever asks, until it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Connections at a time. A scraper needs one; when more come than this, the oldest has to go, so that
/// nobody keeps others out by holding on.
const MOST_CONNECTIONS: usize = 64;

/// How long a client may take to say what it wants, and may say nothing between two requests. Scrapers
/// come every minute at the least, and keep their connection.
const PATIENCE: Duration = Duration::from_secs(75);

/// How long a connection lasts: whoever reads nothing of what it asked for is not waited for.
const LIFE: Duration = Duration::from_secs(600);

/// How long an answer that is under way may take then.
const GRACE: Duration = Duration::from_secs(5);

/// Bytes of a request that are looked at; scrapers send less than one kilobyte.
const LONGEST_REQUEST: usize = 16 << 10;

/// How long to wait when connections cannot be accepted, for want of descriptors.
const PAUSE: Duration = Duration::from_millis(200);

/// Requests are small and answers are ready; hyper's deepest calls use a fraction of it.
const STACK: usize = 512 << 10;

impl Door {
    /// Takes the address.
    pub fn open(wanted: SocketAddr) -> Result<Door> {
        let listener = TcpListener::bind(wanted).map_err(|error| refusal(wanted, &error))?;
        let address = listener.local_addr();
        let ready = listener.set_nonblocking(true).and(address);
        let address = ready.with_context(|| format!("cannot serve metrics at {wanted}"))?;
        Ok(Door { listener, address })
    }

    /// Where it is; a port was chosen if none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers from now on. If that cannot be done it is said, and everything else goes on.
    pub fn serve(self, board: &Arc<Board>) -> Option<Endpoint> {
        let (stop, stopped) = oneshot::channel();
        let board = Arc::clone(board);
        let answers = move || answer_until(self.listener, &board, stopped);
        let watched = move || match catch_unwind(AssertUnwindSafe(answers)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tell_end(&error.to_string()),
            Err(_) => tell_end("leveloff has a bug, please report the lines above"),
        };
        let thread = thread::Builder::new()
            .name("metrics".to_owned())
            .stack_size(STACK)
            .spawn(watched)
            .inspect_err(|error| tell_end(&error.to_string()))
            .ok()?;
        Some(Endpoint {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        // It has nothing to finish: connections are cut.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn tell_end(why: &str) {
    notice(&format!(
        "no metrics are served any more, the run goes on: {why}"
    ));
}

fn refusal(wanted: SocketAddr, error: &io::Error) -> anyhow::Error {
    let (ip, port) = (wanted.ip(), wanted.port());
    let next = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "somebody is there already, such as another leveloff; pass another port, or none: --metrics {}",
            SocketAddr::new(ip, 0)
        ),
        io::ErrorKind::PermissionDenied if port < 1024 => {
            format!("ports below 1024 are root's; pass a higher one: --metrics {ip}:9184")
        }
        io::ErrorKind::AddrNotAvailable => format!(
            "this machine has no address {ip}; 127.0.0.1 is for itself, 0.0.0.0 for all that it has"
        ),
        _ => format!("{error}; choose another address, or pass --metrics-file FILE.prom"),
    };
    anyhow!("cannot serve metrics at {wanted}: {next}")
}

fn answer_until(
    listener: TcpListener,
    board: &Arc<Board>,
    stopped: oneshot::Receiver<()>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::select! {
            () = welcome(&listener, board) => {}
            _ = stopped => {}
        }
        Ok(())
    })
}

async fn welcome(listener: &tokio::net::TcpListener, board: &Arc<Board>) {
    let mut guests: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        guests.retain(|guest| !guest.is_finished());
        if guests.len() == MOST_CONNECTIONS
            && let Some(oldest) = guests.pop_front()
        {
            oldest.abort();
        }
        let guest = tokio::spawn(converse(stream, Arc::clone(board)));
        guests.push_back(guest.abort_handle());
    }
}

/// What a client does wrong ends its connection, and is nobody else's matter.
async fn converse(stream: TcpStream, board: Arc<Board>) {
    let _ = stream.set_nodelay(true);
    let answers = service_fn(move |request| {
        let answer = reply(&request, &board);
        async move { Ok::<_, Infallible>(answer) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LONGEST_REQUEST)
        .serve_connection(TokioIo::new(stream), answers);
    let mut connection = pin!(connection);
    if timeout(LIFE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(GRACE, connection).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_address_and_the_next_step() {
        let low = SocketAddr::from(([127, 0, 0, 1], 80));
        let told = |kind: io::ErrorKind| refusal(low, &kind.into()).to_string();
        let privileged = told(io::ErrorKind::PermissionDenied);
        assert!(privileged.contains("127.0.0.1:80"), "{privileged}");
        assert!(
            privileged.contains("--metrics 127.0.0.1:9184"),
            "{privileged}"
        );
        let taken = told(io::ErrorKind::AddrInUse);
        assert!(taken.contains("--metrics 127.0.0.1:0"), "{taken}");
        let other = told(io::ErrorKind::OutOfMemory);
        assert!(other.contains("--metrics-file"), "{other}");
    }
}
