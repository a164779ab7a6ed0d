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

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::Notify;
use super::latest::Latest;
use super::response::respond;
use crate::error::SetupError;

/// A bound address at which no request is answered yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    notify: Notify,
}

/// Answers requests until it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Connections at a time. A scraper needs one; when more come than this, the oldest has to go, so that
/// idle connections keep no scraper out.
const MOST_CONNECTIONS: usize = 64;

/// How long a client may take to say what it wants, and may say nothing between two requests. Scrapers
/// come every minute at the least, and keep their connection.
const PATIENCE: Duration = Duration::from_secs(75);

/// How long a connection lasts, so that a client that reads nothing does not hold it forever.
const LIFE: Duration = Duration::from_secs(600);

/// How long an answer that is under way may take then.
const GRACE: Duration = Duration::from_secs(5);

/// Bytes of a request that are looked at; scrapers send less than one kilobyte.
const LONGEST_REQUEST: usize = 16 << 10;

/// How long to wait when connections cannot be accepted, for want of descriptors.
const PAUSE: Duration = Duration::from_millis(200);

/// Requests are small and answers are ready; hyper's deepest calls use a fraction of it.
const STACK: usize = 512 << 10;

impl Listener {
    /// Binds the address.
    pub fn open(wanted: SocketAddr, notify: Notify) -> Result<Listener, SetupError> {
        let bound = TcpListener::bind(wanted).and_then(|socket| {
            socket.set_nonblocking(true)?;
            let address = socket.local_addr()?;
            Ok(Listener {
                socket,
                address,
                notify,
            })
        });
        bound.map_err(|error| refusal(wanted, &error))
    }

    /// The address, with the port that the system chose if the user named none.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers from now on. A failure is reported, and the run goes on.
    pub fn serve(self, latest: &Arc<Latest>) -> Option<Endpoint> {
        let (stop, stopped) = oneshot::channel();
        let latest = Arc::clone(latest);
        let notify = self.notify;
        let answers = move || answer_until(self.socket, &latest, stopped);
        let watched = move || match catch_unwind(AssertUnwindSafe(answers)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => report_end(notify, &error.to_string()),
            Err(_) => report_end(notify, "leveloff has a bug, please report the lines above"),
        };
        let thread = thread::Builder::new()
            .name("metrics".to_owned())
            .stack_size(STACK)
            .spawn(watched)
            .inspect_err(|error| report_end(notify, &error.to_string()))
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

fn report_end(notify: Notify, reason: &str) {
    notify(&format!(
        "metrics are no longer served, the run goes on: {reason}"
    ));
}

fn refusal(address: SocketAddr, error: &io::Error) -> SetupError {
    let (ip, port) = (address.ip(), address.port());
    let reason = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "another process uses it, such as another leveloff; pass another port, or let the system choose: \
             --metrics {}",
            SocketAddr::new(ip, 0)
        ),
        io::ErrorKind::PermissionDenied if port < 1024 => {
            format!("ports below 1024 need root; pass a higher one: --metrics {ip}:9184")
        }
        io::ErrorKind::AddrNotAvailable => format!(
            "this machine has no address {ip}; use 127.0.0.1 for this machine only, 0.0.0.0 for all its addresses"
        ),
        _ => format!("{error}; choose another address, or pass --metrics-file FILE.prom"),
    };
    SetupError::Endpoint { address, reason }
}

fn answer_until(
    listener: TcpListener,
    latest: &Arc<Latest>,
    stopped: oneshot::Receiver<()>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::select! {
            () = accept(&listener, latest) => {}
            _ = stopped => {}
        }
        Ok(())
    })
}

async fn accept(listener: &tokio::net::TcpListener, latest: &Arc<Latest>) {
    let mut connections: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        connections.retain(|connection| !connection.is_finished());
        if connections.len() == MOST_CONNECTIONS
            && let Some(oldest) = connections.pop_front()
        {
            oldest.abort();
        }
        let connection = tokio::spawn(serve_connection(stream, Arc::clone(latest)));
        connections.push_back(connection.abort_handle());
    }
}

/// A faulty client loses its connection and disturbs no other.
async fn serve_connection(stream: TcpStream, latest: Arc<Latest>) {
    let _ = stream.set_nodelay(true);
    let answers = service_fn(move |request| {
        let answer = respond(&request, &latest);
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
        let refused = |kind: io::ErrorKind| refusal(low, &kind.into()).to_string();
        let privileged = refused(io::ErrorKind::PermissionDenied);
        assert!(privileged.contains("127.0.0.1:80"), "{privileged}");
        assert!(
            privileged.contains("--metrics 127.0.0.1:9184"),
            "{privileged}"
        );
        let taken = refused(io::ErrorKind::AddrInUse);
        assert!(taken.contains("--metrics 127.0.0.1:0"), "{taken}");
        let other = refused(io::ErrorKind::OutOfMemory);
        assert!(other.contains("--metrics-file"), "{other}");
    }
}
