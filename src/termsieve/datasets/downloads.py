"""Downloads of archives, each verified before it is used."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from termsieve._progress import ProgressBar, show_bar
from termsieve.datasets.records import Archive
from termsieve.errors import InputError
from termsieve.extras import import_extra
from termsieve.files import check_target, write_atomically

TIMEOUT = 60  # seconds without a byte
MAX_BYTES = 4 << 30  # bytes of a download whose size is not known
SIZE_SLACK = 1 << 20
_CHUNK = 1 << 16

MessageCallback = Callable[[str], None]


def compute_sha256(path: Path) -> str:
    """Compute the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_checksum(path: Path) -> str | None:
    """Read the checksum that was recorded when the archive was first downloaded."""
    note = _checksum_path(path)
    return note.read_text(encoding="ascii").split()[0] if note.is_file() else None


def write_checksum(path: Path) -> str:
    """Record the checksum of an archive without a published one, as ``sha256sum`` does."""
    digest = compute_sha256(path)
    write_atomically(_checksum_path(path), [f"{digest}  {path.name}\n".encode("ascii")])
    return digest


def _checksum_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def download(archive: Archive, folder: Path, *, progress: bool, tell: MessageCallback) -> Path:
    """Return an archive in a folder: an existing one with the right checksum, or a download from one of its URLs."""
    path = check_target(folder / archive.name)
    known = archive.sha256 or read_checksum(path)
    if path.is_file() and known and compute_sha256(path) == known:
        return path
    failures = []
    for url in archive.urls:
        tell(f"downloading {url}")
        try:
            return _retrieve(url, archive, known, path, progress=progress)
        except (OSError, ValueError) as error:  # no network, an error of the server, another checksum
            failures.append(f"{url}: {_describe_failure(error)}")
    raise InputError(
        f"{archive.name} could not be downloaded. {' '.join(failures)} "
        "If you have the file, give it with --from; if you need a proxy, set HTTPS_PROXY."
    )


def _retrieve(url: str, archive: Archive, known: str | None, path: Path, *, progress: bool) -> Path:
    pooch = import_extra("pooch", "Downloading a corpus")
    pooch.get_logger().setLevel(logging.WARNING)
    path.unlink(missing_ok=True)  # not what it should be, or not known to be
    with show_bar(archive.name, shown=progress, in_bytes=True) as bar:
        meter = DownloadMeter(archive, bar)
        asking = {
            "headers": {"Accept-Encoding": "identity"},
            "hooks": {"response": _disable_decoding},
            "timeout": TIMEOUT,
        }
        fetch = pooch.HTTPDownloader(progressbar=meter, chunk_size=_CHUNK, **asking)
        expected = f"sha256:{known}" if known else None
        return Path(pooch.retrieve(url, expected, fname=path.name, path=path.parent, downloader=fetch))


def _disable_decoding(response: Any, **_: Any) -> None:
    """Keep the bytes that a checksum is of: some servers call a .gz file encoded, and it would be unpacked."""
    response.raw.headers.pop("Content-Encoding", None)


def _describe_failure(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, ValueError) and "does not match the known hash" in str(error):
        return "has another checksum than it should have: it was changed or damaged, and is not used."
    return _explain_error(error)


def _explain_error(error: Exception) -> str:
    """Say what failed without the text of the libraries below, which is for programmers."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"the server answers with status {status}."
    if "SSLError" in kinds:
        return "there is no secure connection: the certificate of the server is not accepted."
    if kinds & {"Timeout", "TimeoutError"}:
        return "the server does not answer in time."
    if "ConnectionError" in kinds:
        return "there is no connection: no network, or the server is not there."
    reason = error.strerror if isinstance(error, OSError) else None
    return f"{reason or type(error).__name__}."


class DownloadMeter:
    """A progress bar for pooch that also ends a download that is too large."""

    def __init__(self, archive: Archive, bar: ProgressBar) -> None:
        self.max_bytes = archive.size + SIZE_SLACK if archive.size else MAX_BYTES
        self.total = archive.size or 0  # pooch sets what the server says
        self._bar = bar
        self._count = 0

    def update(self, size: int) -> None:
        """Count bytes that came."""
        self._count += size
        if max(self._count, self.total) > self.max_bytes + _CHUNK:
            raise InputError(f"sends more than {self.max_bytes:,} bytes, which is the limit. It is not read.")
        self._bar.update(self._count, self.total or None)

    def reset(self) -> None:
        """Start again: pooch counts whole chunks, and corrects that at the end."""
        self._count = 0

    def close(self) -> None:
        """Do nothing: the bar ends with its context."""
