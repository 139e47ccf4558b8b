"""Files of a tier in any file system that fsspec opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samovar.errors import SamovarError
from samovar.tiers.addresses import without_secrets
from samovar.tiers.web_reader import MOST_BYTES, TooLarge

if TYPE_CHECKING:
    from typing import Any


class FsspecTransport:
    """Any file system of fsspec: s3, gcs, az, memory and others."""

    def __init__(self, address: str, seconds: float) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise SamovarError(
                f"the cache tier {without_secrets(address)} needs the package fsspec\n  help: pip install 'samovar[remote]'"
            ) from error
        protocol = address.partition("://")[0]
        settings: dict[str, Any] = {"use_listings_cache": False, "skip_instance_cache": True}
        if protocol in ("s3", "s3a"):
            settings["config_kwargs"] = {
                "connect_timeout": seconds, "read_timeout": seconds, "retries": {"max_attempts": 1},
            }  # fmt: skip
        try:
            self._files, self._base = fsspec.core.url_to_fs(address, **settings)
        except ImportError as error:
            raise SamovarError(f"the cache tier {without_secrets(address)} cannot be opened: {error}") from error

    def read(self, path: str) -> bytes | None:
        try:
            # A range bounds what is received, without a request for the size.
            content: bytes = self._files.cat_file(f"{self._base}/{path}", start=0, end=MOST_BYTES + 1)
        except FileNotFoundError:
            return None
        if len(content) > MOST_BYTES:
            raise TooLarge(f"{path} has more than {MOST_BYTES >> 20} MiB")
        return content

    def names(self, folder: str) -> list[str]:
        try:
            found = self._files.ls(f"{self._base}/{folder}", detail=False)
        except FileNotFoundError:
            return []
        return [str(path).rstrip("/").rpartition("/")[2] for path in found]

    def write(self, path: str, content: bytes) -> None:
        self._files.pipe_file(f"{self._base}/{path}", content)

    def remove(self, path: str) -> None:
        try:
            self._files.rm_file(f"{self._base}/{path}")
        except FileNotFoundError:
            return
