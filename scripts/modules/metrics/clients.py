"""Clients of the endpoint: those that scrape and measure how long it takes, and those that misbehave."""

import http.client
import os
import random
import socket
import threading
import time

GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n\r\n"
ACCEPT = {"Accept": "application/openmetrics-text;version=1.0.0,*/*;q=0.1"}


class Scrapers:
    """Threads that together ask so many times a second; half of them keep their connection."""

    def __init__(self, address, rate, threads=8):
        self.address, self.each = address, rate / threads
        self.latencies, self.failures, self.renewed = [], [], 0
        self.threads = [threading.Thread(target=self.scrape, args=(n,), daemon=True) for n in range(threads)]

    def run(self, seconds):
        self.until = time.monotonic() + seconds
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join()

    def scrape(self, number):
        keeps, connection = number % 2 == 0, None
        due = time.monotonic() + random.random() / self.each
        while due < self.until:
            time.sleep(max(0.0, due - time.monotonic()))
            due += 1 / self.each
            began = time.perf_counter()
            try:
                text, connection = self.ask(connection)
                if not text.endswith(b"# EOF\n"):
                    raise ValueError(f"torn: {text[-40:]}")
                self.latencies.append(time.perf_counter() - began)
            except (OSError, ValueError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                connection = None
            if not keeps and connection:
                connection.close()
                connection = None


    def ask(self, connection):
        """One that was kept may be cut off meanwhile, for others; like Prometheus, asks again then."""
        for connection in (connection, None) if connection else (None,):
            is_new = connection is None
            try:
                connection = connection or http.client.HTTPConnection(*self.address, timeout=10)
                connection.request("GET", "/metrics", headers=ACCEPT)
                return connection.getresponse().read(), connection
            except (ConnectionError, http.client.RemoteDisconnected):
                if is_new:
                    raise
                self.renewed += 1


class Troublemakers:
    """Connections that are held, read from slowly, or send garbage, until they are stopped."""

    def __init__(self, address, held=100, slow=10):
        self.address, self.stopping, self.did = address, threading.Event(), 0
        kinds = [self.hold] * held + [self.read_slowly] * slow + [self.talk_nonsense, self.talk_endlessly]
        self.threads = [threading.Thread(target=self.keep_on, args=(kind,), daemon=True) for kind in kinds]

    def __enter__(self):
        threading.stack_size(256 << 10)
        for thread in self.threads:
            thread.start()
        threading.stack_size(0)
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def keep_on(self, kind):
        """Comes back whenever it is thrown out."""
        while not self.stopping.is_set():
            try:
                with socket.create_connection(self.address, timeout=10) as connection:
                    self.did += 1
                    kind(connection)
            except OSError:
                pass
            self.stopping.wait(0.2)

    def hold(self, connection):
        connection.sendall(random.choice([b"", b"GET /met", GET]))
        connection.settimeout(0.5)
        while not self.stopping.is_set():
            try:
                if not connection.recv(65536):
                    return
            except TimeoutError:
                pass

    def read_slowly(self, connection):
        """Asks for megabytes, and takes a byte at a time."""
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.settimeout(0.2)
        try:
            connection.sendall(GET * 2000)
        except TimeoutError:
            pass
        while not self.stopping.wait(0.1):
            try:
                if not connection.recv(1):
                    return
            except TimeoutError:
                pass

    def talk_nonsense(self, connection):
        connection.sendall(os.urandom(random.randrange(1, 4000)) + b"\r\n\r\n")
        connection.recv(1000)

    def talk_endlessly(self, connection):
        connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * (1 << 20))
        connection.recv(1000)
