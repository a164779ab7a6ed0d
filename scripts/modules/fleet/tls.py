"""A server that speaks TLS, with a private certificate authority."""

import http.server
import pathlib
import ssl
import subprocess
import threading

EMPTY = b'{"status":"success","data":{"resultType":"vector","result":[]}}'


class Empty(http.server.BaseHTTPRequestHandler):
    """A Prometheus that has nothing."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(EMPTY)))
        self.end_headers()
        self.wfile.write(EMPTY)

    do_GET = do_POST

    def log_message(self, *_):
        pass


def certificates(place):
    """An authority and a certificate by it for 127.0.0.1: the file of each, and the key of the second."""
    place = pathlib.Path(place)
    openssl = lambda *words: subprocess.run(["openssl", *words], cwd=place, check=True, capture_output=True)
    usual = ["-newkey", "rsa:2048", "-nodes", "-days", "2"]
    openssl("req", "-x509", *usual, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ours")
    openssl("req", *usual[:3], "-keyout", "own.key", "-out", "own.csr", "-subj", "/CN=127.0.0.1")
    (place / "names").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
    openssl("x509", "-req", "-in", "own.csr", *signed, "-out", "own.pem")
    return place / "ca.pem", place / "own.pem", place / "own.key"


def serve(certificate, key):
    """Its address; it goes on until the program ends."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"https://127.0.0.1:{server.server_address[1]}"
