"""Finds the running server: its address, token and socket are files below `~/.nacre/run`.

A server that was killed leaves its address, and anybody may listen there since. So the socket comes first: only the
person can make one there. Where there is none, the token is sent only while the server's lock is held.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from ._errors import NacreError

# The host name in requests over the socket, which have no address.
SOCKET_URL = "http://localhost"


@dataclass(frozen=True)
class Endpoint:
    """The destination of requests. The token is left out of `repr`."""

    base_url: str
    token: str | None = field(default=None, repr=False)
    socket: str | None = None

    @property
    def shown(self) -> str:
        """The server's name in messages."""
        return self.socket or self.base_url


@dataclass(frozen=True)
class Source:
    """The caller's options for the server. Everything else is read from files, and again after a restart."""

    base_url: str | None = None
    token: str | None = field(default=None, repr=False)
    # `None` uses the socket if there is one; `False` uses the port.
    socket: str | os.PathLike[str] | bool | None = None
    home: str | os.PathLike[str] | None = None

    def with_socket_where_there_is_one(self) -> Source:
        """Returns a copy that uses the socket if the caller did not choose and there is one."""
        if self.socket is not None or self.base_url is not None or not has_sockets():
            return self
        return replace(self, socket=True) if (nacre_home(self.home) / "run" / "socket").exists() else self

    def find(self) -> Endpoint:
        found = self._look()
        if found.token is not None and not is_sendable(found.token):
            # Leave the token out of the message, because messages are logged.
            raise NacreError("usage", "The token has characters that a token cannot have")
        return found

    def _look(self) -> Endpoint:
        run = nacre_home(self.home) / "run"
        if self.socket is not None and self.socket is not False:
            path = run / "socket" if self.socket is True else Path(self.socket)
            return Endpoint(SOCKET_URL, self.token or read_token(run), str(path))
        if self.base_url is not None:
            return Endpoint(self.base_url.rstrip("/"), self.token or self._local_token(run))
        # Read the token before the address: a starting server removes the old address before it writes its token.
        token = self.token or read_token(run)
        address = read(run / "address")
        if not address or (self.socket is None and not is_held(run)):
            raise NacreError(
                "unreachable", f"No server is running for {run.parent}", hints=["Start it with `nacre up`"]
            )
        return Endpoint(url_of(address), token)

    def _local_token(self, run: Path) -> str | None:
        """The token of this machine's server is never sent to another machine."""
        return read_token(run) if is_loopback(self.base_url or "") else None


def nacre_home(given: str | os.PathLike[str] | None = None) -> Path:
    """The global data directory: `given`, `NACRE_HOME`, or `~/.nacre`."""
    home = given or os.environ.get("NACRE_HOME")
    return Path(home).absolute() if home else Path.home() / ".nacre"


def read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def has_sockets() -> bool:
    """Whether servers create a socket file on this system."""
    return os.name == "posix"


def is_held(run: Path) -> bool:
    """Whether a server holds its lock. Always true on Windows, where this cannot be checked."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        with (run / "server" / "journal" / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def read_token(run: Path) -> str | None:
    return read(run / "token")


def is_sendable(token: str) -> bool:
    """Whether a token can be part of a header."""
    return token != "" and all("!" <= character <= "~" for character in token)


def url_of(address: str) -> str:
    """Converts `127.0.0.1:8765` to a URL. A server that listens on all addresses is reached by loopback."""
    if "://" in address:
        return address.rstrip("/")
    for anywhere, here in (("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:")):
        if address.startswith(anywhere):
            address = here + address[len(anywhere) :]
    return f"http://{address}"


def is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
