"""A bucket of S3: signed requests by the standard library read it, and fsspec does everything else.

A cold worker makes three requests. Importing s3fs and creating its client takes 0.7 s, a signed request a millisecond. Only
the ordinary case is handled here: credentials in environment variables or in the user's credentials file. Where there are
none (roles, single sign-on), or where the server refuses a request (another region, a wrong clock), s3fs takes over.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from samovar.tiers.fsspec_transport import FsspecTransport
from samovar.tiers.web_reader import Refused, WebReader

_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # SHA-256 of an empty body
#: How many pages of a listing are read, of a thousand names each.
_MOST_PAGES = 16


@dataclass(frozen=True)
class Credentials:
    """Who signs requests, and for which region."""

    key: str
    secret: str
    token: str
    region: str


def find_credentials() -> Credentials | None:
    """Credentials from the environment or the user's files, or None if they have to come from somewhere else."""
    given = os.environ
    key, secret, token = (given.get(f"AWS_{name}", "") for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"))
    if not (key and secret):
        names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
        key, secret, token = (_of_profile("credentials", name) for name in names)
    if not (key and secret):
        return None
    region = given.get("AWS_REGION") or given.get("AWS_DEFAULT_REGION") or _of_profile("config", "region")
    return Credentials(key, secret, token, region or "us-east-1")


def _of_profile(kind: str, name: str) -> str:
    """A setting of the user's profile in the file `~/.aws/config` or `~/.aws/credentials`, or an empty string."""
    variable = {"config": "AWS_CONFIG_FILE", "credentials": "AWS_SHARED_CREDENTIALS_FILE"}[kind]
    path = os.path.expanduser(os.environ.get(variable) or f"~/.aws/{kind}")
    if not os.path.isfile(path):
        return ""
    import configparser

    profile = os.environ.get("AWS_PROFILE") or "default"
    file = configparser.RawConfigParser()
    try:
        file.read(path, encoding="utf-8")
    except (OSError, ValueError, configparser.Error):
        return ""
    section = f"profile {profile}" if kind == "config" and profile != "default" else profile
    return file.get(section, name, fallback="")


def signed_headers(who: Credentials, host: str, path: str, query: str, time: str) -> dict[str, str]:
    """The headers of a GET request, signed by version 4 of the protocol. `path` and `query` are encoded, `time` is like
    20260131T235959Z."""
    import hmac
    from hashlib import sha256

    headers = {"host": host, "x-amz-content-sha256": _NOTHING, "x-amz-date": time}
    if who.token:
        headers["x-amz-security-token"] = who.token
    names = ";".join(headers)
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    request = f"GET\n{path}\n{query}\n{lines}\n{names}\n{_NOTHING}"
    scope = f"{time[:8]}/{who.region}/s3/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{sha256(request.encode()).hexdigest()}"
    key = f"AWS4{who.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={who.key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return headers


class S3Transport:
    """The files under `s3://bucket/prefix`."""

    def __init__(self, address: str, seconds: float) -> None:
        self._address = address
        self._seconds = seconds
        self._others: FsspecTransport | None = None
        self._bucket, _, prefix = address.partition("://")[2].partition("/")
        self._prefix = prefix.strip("/")
        self._who = find_credentials()
        if self._who is not None:
            endpoint = urlsplit(
                os.environ.get("AWS_ENDPOINT_URL_S3")
                or os.environ.get("AWS_ENDPOINT_URL")
                or f"https://s3.{self._who.region}.amazonaws.com"
            )
            self._host = endpoint.netloc
            self._base = f"{endpoint.path.rstrip('/')}/{self._bucket}"
            self._web = WebReader(endpoint.scheme, self._host, seconds)

    @property
    def _fsspec(self) -> FsspecTransport:
        """The transport for everything that is not read here."""
        if self._others is None:
            self._others = FsspecTransport(self._address, self._seconds)
        return self._others

    def _get(self, path: str, query: str = "") -> bytes | None:
        """The content of an object, or the answer to a query. Raises Refused where s3fs has to take over."""
        from time import gmtime, strftime

        if self._who is None:
            raise Refused("no credentials in the environment or in the user's files")
        path = quote(path)
        headers = signed_headers(self._who, self._host, path, query, strftime("%Y%m%dT%H%M%SZ", gmtime()))
        return self._web.get(f"{path}?{query}" if query else path, headers)

    def _key(self, path: str) -> str:
        return f"{self._prefix}/{path}" if self._prefix else path

    def read(self, path: str) -> bytes | None:
        try:
            return self._get(f"{self._base}/{self._key(path)}")
        except Refused:
            self._who = None
            return self._fsspec.read(path)

    def names(self, folder: str) -> list[str]:
        try:
            return self._listed(f"{self._key(folder)}/")
        except Refused:
            self._who = None
            return self._fsspec.names(folder)

    def _listed(self, prefix: str) -> list[str]:
        found: list[str] = []
        after = ""
        for _ in range(_MOST_PAGES):
            # In the order of their names, as the signature has them.
            query = f"delimiter=%2F&encoding-type=url&list-type=2&prefix={quote(prefix, safe='')}"
            if after:
                query = f"continuation-token={quote(after, safe='')}&{query}"
            answer = (self._get(self._base, query) or b"").decode("utf-8", "replace")
            for name in re.findall("<(?:Key|Prefix)>([^<]*)</(?:Key|Prefix)>", answer):
                name = unquote(name).removeprefix(prefix).rstrip("/")
                if name and "/" not in name:
                    found.append(name)
            following = re.search("<NextContinuationToken>([^<]*)</NextContinuationToken>", answer)
            if following is None:
                break
            after = following[1].replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        return found

    def write(self, path: str, content: bytes) -> None:
        self._fsspec.write(path, content)

    def remove(self, path: str) -> None:
        self._fsspec.remove(path)
