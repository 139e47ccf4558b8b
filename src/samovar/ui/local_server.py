"""A small web server for pages of this process: only on the loopback interface, and only for those who know its address.

Programs of other users, and pages of other sites in the same browser, can reach a loopback port. So each request has to
contain a random token in its path, name this server as its `Host` (against DNS rebinding), and, if it says where it comes
from (`Origin`), come from a page of this server; a WebSocket has to say so.
"""

from __future__ import annotations

import secrets
import threading
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from samovar.ui.websocket import WebSocket, accepting

if TYPE_CHECKING:
    from collections.abc import Callable

_SOCKET = "socket"
#: Seconds for a request to arrive.
_PATIENCE = 10


class Page(NamedTuple):
    """What a request is answered with. In the text, `@NONCE@` stands for that of the page's scripts and styles."""

    text: str
    kind: str = "text/html; charset=utf-8"


class LocalServer:
    """Serves pages, by their path below the token, until `close`."""

    def __init__(self, page: Callable[[str], Page | None], talk: Callable[[WebSocket], None] | None = None) -> None:
        self.token = secrets.token_urlsafe(24)
        self.page = page
        self.talk = talk
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self.port: int = self._server.server_address[1]
        self.origins = tuple(f"http://{name}:{self.port}" for name in ("127.0.0.1", "localhost"))
        threading.Thread(target=self._server.serve_forever, name="samovar-page", daemon=True).start()

    @property
    def address(self) -> str:
        """The address of the first page, with the token."""
        return f"{self.origins[0]}/{self.token}/"

    def close(self) -> None:
        """Stop serving. Open connections end by themselves."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: LocalServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: browsers break connections whenever they like."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "samovar", ""
    timeout = _PATIENCE
    server: _Server

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        owner = self.server.owner
        _, _, rest = self.path.partition("?")[0].partition("/")
        token, _, path = rest.partition("/")
        origin = self.headers.get("Origin")
        if not compare_digest(token.encode("utf-8", "replace"), owner.token.encode()) or not self._is_ours(origin):
            self._refuse(403)
        elif path == _SOCKET and owner.talk is not None:
            if origin is None:
                self._refuse(403)
            else:
                self._upgrade(owner.talk)
        else:
            page = owner.page(path)
            if page is None:
                self._refuse(404)
            else:
                self._answer(page)

    def _is_ours(self, origin: str | None) -> bool:
        """Whether a request names this server, and comes from its own pages or does not say where it comes from."""
        origins = self.server.owner.origins
        hosts = self.headers.get_all("Host") or []
        return len(hosts) == 1 and f"http://{hosts[0]}" in origins and origin in (None, *origins)

    def _refuse(self, status: int) -> None:
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def _answer(self, page: Page) -> None:
        nonce = secrets.token_urlsafe(16)
        is_page = page.kind.startswith("text/html")
        content = (page.text.replace("@NONCE@", nonce) if is_page else page.text).encode(errors="replace")
        sockets = " ".join(origin.replace("http:", "ws:") for origin in self.server.owner.origins)
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; "
            f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors http://127.0.0.1:* http://localhost:*"
        )
        self.send_response(200)
        for name, value in (
            ("Content-Type", page.kind),
            ("Content-Length", str(len(content))),
            ("Content-Security-Policy", policy),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _upgrade(self, talk: Callable[[WebSocket], None]) -> None:
        key = self.headers.get("Sec-WebSocket-Key", "")
        if self.headers.get("Upgrade", "").lower() != "websocket" or not key:
            self._refuse(400)
            return
        self.close_connection = True
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accepting(key))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()
        self.connection.settimeout(None)
        socket = WebSocket(self.rfile, self.wfile)  # type: ignore[arg-type]
        try:
            talk(socket)
        finally:
            socket.close()
