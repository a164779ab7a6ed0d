//! A thread that serves slow readings, so that a tick does not wait for them.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Handles requests one after the other on a thread of its own.
#[derive(Debug)]
pub(crate) struct WorkerThread<Request, Response> {
    requests: Sender<Request>,
    responses: Receiver<Response>,
    in_flight: usize,
}

impl<Request: Send + 'static, Response: Send + 'static> WorkerThread<Request, Response> {
    pub(crate) fn start(
        name: &str,
        mut handle: impl FnMut(Request) -> Response + Send + 'static,
    ) -> io::Result<WorkerThread<Request, Response>> {
        let (requests, inbox) = channel();
        let (outbox, responses) = channel();
        thread::Builder::new()
            .name(name.to_owned())
            .stack_size(256 << 10)
            .spawn(move || {
                for request in inbox {
                    if outbox.send(handle(request)).is_err() {
                        return;
                    }
                }
            })?;
        Ok(WorkerThread {
            requests,
            responses,
            in_flight: 0,
        })
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.in_flight > 0
    }

    pub(crate) fn request(&mut self, request: Request) {
        self.in_flight += usize::from(self.requests.send(request).is_ok());
    }

    /// The responses since the last call.
    pub(crate) fn finished(&mut self) -> Vec<Response> {
        let finished: Vec<Response> = self.responses.try_iter().collect();
        self.in_flight -= finished.len();
        finished
    }

    /// Waits for the responses to all requests.
    pub(crate) fn wait(&mut self) -> Vec<Response> {
        let finished: Vec<Response> = self.responses.iter().take(self.in_flight).collect();
        self.in_flight = 0;
        finished
    }
}
