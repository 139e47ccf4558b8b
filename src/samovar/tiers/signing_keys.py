"""Keys: which public keys are trusted, which are revoked, and how a publisher signs. Ed25519, by the package cryptography.

A public key is written `ed25519:` and 64 hexadecimal digits. A signature covers the kind of an entry, its key, the digest of
its content, and its time of issue and expiry. Workers have public keys only. The private key is in a file or a variable, or
a command (an agent) signs.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Protocol

from samovar._native import encode_plain
from samovar.cache import distrust
from samovar.errors import SamovarError
from samovar.language import Options
from samovar.tiers.manifest import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

PREFIX = "ed25519:"
_PUBLIC = re.compile(r"ed25519:([0-9a-f]{64})")
_SECRET_LINE = "samovar private key 1"
#: How far the clocks of two machines may differ.
CLOCK_SECONDS = 2 * 86400
#: How long an agent may take.
_AGENT_SECONDS = 30.0
#: Why an entry is ignored.
UNSIGNED, UNKNOWN_KEY, REVOKED, EXPIRED, FORGED = "unsigned", "unknown key", "revoked key", "expired", "wrong signature"


class KeyProblem(SamovarError):
    """A key that is malformed, missing, or readable by others."""


def message_of(row: Row) -> bytes:
    """What the signature of an entry covers."""
    return encode_plain(("samovar entry 1", "leaves", row.tree, row.leaf, row.target, row.digest, row.issued, row.expires))


def shown_key(public: bytes) -> str:
    """A public key as text."""
    return PREFIX + public.hex()


def parsed_key(text: str) -> bytes:
    """The public key that a text names."""
    found = _PUBLIC.fullmatch(text)
    if found is None:
        raise KeyProblem(f"{text!r} is not a public key\n  help: a public key is {PREFIX} and 64 hexadecimal digits")
    return bytes.fromhex(found[1])


def _ed25519(address: str = "") -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise KeyProblem(
            "a cache tier needs the package cryptography\n  help: pip install 'samovar[remote]'"
        ) from error
    return ed25519


# --- trust


class Trust:
    """The public keys whose entries are used."""

    def __init__(self, keys: Iterable[bytes], revoked: Iterable[bytes], clock: Callable[[], float]) -> None:
        self.revoked = frozenset(revoked)
        self.keys = frozenset(keys) - self.revoked
        self._clock = clock
        self._loaded: dict[bytes, Any] = {}

    def objection(self, row: Row) -> str | None:
        """Why an entry must not be used, or None if it has a valid signature by a trusted key."""
        if not row.signature:
            return UNSIGNED
        if row.signer in self.revoked:
            return REVOKED
        if row.signer not in self.keys:
            return UNKNOWN_KEY
        now = self._clock()
        if not row.issued - CLOCK_SECONDS <= now <= row.expires + CLOCK_SECONDS:
            return EXPIRED
        return None if self._verifies(row) else FORGED

    def _verifies(self, row: Row) -> bool:
        from cryptography.exceptions import InvalidSignature

        key = self._loaded.get(row.signer)
        try:
            if key is None:
                key = self._loaded[row.signer] = _ed25519().Ed25519PublicKey.from_public_bytes(row.signer)
            key.verify(row.signature, message_of(row))
        except (InvalidSignature, ValueError):
            return False
        return True


def trust_file() -> str:
    """The user's file of trusted keys."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "samovar", "trusted-keys")


def read_trust(options: Options, own: bytes | None, clock: Callable[[], float]) -> Trust:
    """Return the keys that the user's file and the option `cache_trust` name, without the revoked ones; a publisher trusts
    its own key."""
    keys: set[bytes] = set() if own is None else {own}
    revoked: set[bytes] = set()
    _read_lines(_lines_of(trust_file(), missing_ok=True), keys, revoked)
    given = options.cache_trust
    if given and not _PUBLIC.match(given.lstrip("-")):
        _read_lines(_lines_of(given, missing_ok=False), keys, revoked)
    else:
        for word in given.replace(",", " ").split():
            (revoked if word.startswith("-") else keys).add(parsed_key(word.removeprefix("-")))
    return Trust(keys, revoked, clock)


def _lines_of(path: str, *, missing_ok: bool) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            reason = distrust(status.st_uid, status.st_mode)
            if reason is not None:
                raise KeyProblem(f"{path} is not used, because {reason}\n  help: chmod 600 {path}")
            return file.read(1 << 20).splitlines()
    except FileNotFoundError:
        if missing_ok:
            return []
        raise KeyProblem(f"cache_trust: there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise KeyProblem(f"{path} cannot be read: {error}") from error


def _read_lines(lines: list[str], keys: set[bytes], revoked: set[bytes]) -> None:
    for line in lines:
        words = line.partition("#")[0].split()
        if words:
            (revoked if words[0] == "revoked" else keys).add(parsed_key(words[-1]))


def add_to_trust(public: str, comment: str, *, revoke: bool) -> str:
    """Add a key to the user's file, or revoke it there. Return the path of the file."""
    parsed_key(public)
    path = trust_file()
    lines = _lines_of(path, missing_ok=True)
    kept = [line for line in lines if public not in line]
    kept.append(("revoked " if revoke else "") + public + (f"  # {comment}" if comment else ""))
    from samovar.fingerprint import publish_file

    publish_file(path, ("\n".join(kept) + "\n").encode(), (os.path.dirname(path),))
    return path


# --- signing


class Signer(Protocol):
    """Something that signs for one public key."""

    @property
    def public(self) -> bytes: ...

    def sign(self, messages: Sequence[bytes]) -> list[bytes]: ...


class PrivateKey:
    """A private key in this process."""

    def __init__(self, secret: bytes) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._key = _ed25519().Ed25519PrivateKey.from_private_bytes(secret)
        self.public: bytes = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, messages: Sequence[bytes]) -> list[bytes]:
        return [self._key.sign(message) for message in messages]


class Agent:
    """A command that holds the private key. `COMMAND public` prints the public key; `COMMAND sign` reads messages, one line
    of hexadecimal digits each, and prints a line with the signature of each."""

    def __init__(self, command: str) -> None:
        import shlex

        self._command = shlex.split(command)
        self.public = parsed_key(self._run("public", "").strip())

    def _run(self, what: str, given: str) -> str:
        import subprocess

        try:
            done = subprocess.run(
                [*self._command, what], input=given, capture_output=True, text=True, timeout=_AGENT_SECONDS, check=True
            )
        except subprocess.CalledProcessError as error:
            raise KeyProblem(f"the signing agent failed: {str(error.stderr).strip()[:500]}") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise KeyProblem(f"the signing agent failed: {error}") from error
        return done.stdout

    def sign(self, messages: Sequence[bytes]) -> list[bytes]:
        lines = self._run("sign", "".join(f"{message.hex()}\n" for message in messages)).split()
        try:
            found = [bytes.fromhex(line) for line in lines]
        except ValueError:
            found = []
        if len(found) != len(messages) or any(len(each) != 64 for each in found):
            raise KeyProblem("the signing agent did not return one signature for each message")
        return found


def signer_of(options: Options) -> Signer | None:
    """Return what signs for this process: the option `cache_signing_key` names a file, `variable:NAME` or
    `command:COMMAND`. None without it."""
    given = options.cache_signing_key
    if not given:
        return None
    if given.startswith("command:"):
        return Agent(given.removeprefix("command:"))
    if given.startswith("variable:"):
        name = given.removeprefix("variable:")
        if name not in os.environ:
            raise KeyProblem(f"cache_signing_key: there is no environment variable {name}")
        return PrivateKey(_secret_in(os.environ[name], f"the environment variable {name}"))
    try:
        with open(given, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise KeyProblem(f"others can read the private key {given}\n  help: chmod 600 {given}")
            text = file.read(4096)
    except (OSError, UnicodeDecodeError) as error:
        raise KeyProblem(f"the private key {given} cannot be read: {error}") from error
    return PrivateKey(_secret_in(text, given))


def _secret_in(text: str, where: str) -> bytes:
    words = text.replace(_SECRET_LINE, "").split()
    if len(words) != 1 or re.fullmatch("[0-9a-f]{64}", words[0]) is None:
        raise KeyProblem(f"{where} does not contain a private key\n  help: samovar cache keygen FILE creates one")
    return bytes.fromhex(words[0])


def generate_key(path: str) -> str:
    """Write a new private key into a new file that only the user can read. Return the public key."""
    _ed25519()
    secret = os.urandom(32)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise KeyProblem(f"{path} exists: it is not overwritten") from None
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(f"{_SECRET_LINE}\n{secret.hex()}\n")
    return shown_key(PrivateKey(secret).public)
