"""The server of pages answers only those who know its address, and only its own pages."""

import socket

import pytest

from samovar.ui import LocalServer, Page
from ui.browserless import answer, connected, origin_of, request


def page(path):
    return Page(f"<script nonce='@NONCE@'>{path}</script>") if path != "none" else None


@pytest.fixture
def server():
    made = LocalServer(
        lambda path: Page(f"<script nonce='@NONCE@'>{path}</script>") if path != "none" else None, lambda _: None
    )
    yield made
    made.close()


def test_a_page_is_served_with_a_policy(server):
    status, headers, text = answer(server.address, "a")
    nonce = text.split("'")[1]
    assert (status, text) == (200, f"<script nonce='{nonce}'>a</script>")
    assert f"script-src 'nonce-{nonce}'" in headers["Content-Security-Policy"]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert headers["Referrer-Policy"] == "no-referrer"
    assert answer(server.address, "none")[0] == 404


def test_it_listens_on_the_loopback_interface_only(server):
    assert server._server.server_address[0] == "127.0.0.1"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", server.port), timeout=0.5)


@pytest.mark.parametrize("wrong", ["", "x", "%00", "ä", "../"])
def test_the_token_is_needed(server, wrong):
    address = f"{server.origins[0]}/{wrong}/"
    assert answer(address.encode().decode("latin-1"))[0] == 403


def test_a_part_of_the_token_is_not_enough(server):
    assert answer(server.address[:-2] + "/")[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", ""])
def test_another_host_is_refused(server, host):
    assert answer(server.address, host=host)[0] == 403


def test_the_name_of_the_host_is_accepted(server):
    assert answer(server.address, host=f"localhost:{server.port}")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "file://"])
@pytest.mark.parametrize("path", ["", "socket"])
def test_another_origin_is_refused(server, origin, path):
    assert answer(server.address, path, Origin=origin)[0] == 403


def test_a_socket_has_to_say_where_it_comes_from(server):
    headers = {"Upgrade": "websocket", "Sec-WebSocket-Key": "x"}
    assert answer(server.address, "socket", **headers)[0] == 403
    assert answer(server.address, "socket", Origin=origin_of(server.address))[0] == 400
    assert answer(server.address, "socket", Origin=origin_of(server.address), **headers)[0] == 101


def test_two_hosts_are_refused(server):
    with connected(server.address) as connection:
        connection.sendall(request(server.address).replace(b"\r\n\r\n", b"\r\nHost: evil.example\r\n\r\n"))
        assert b" 403 " in connection.recv(100)
