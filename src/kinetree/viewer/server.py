"""A web server for one viewer, by viser: the only place that imports it."""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from kinetree.base.lazy_imports import extra
from kinetree.base.locks import ReentrantLock
from kinetree.errors import ArgumentError, KinetreeError, short
from kinetree.viewer.access import PRIVATE, Access

LOOPBACK = "127.0.0.1"
BRAND = (37, 99, 235)
_patching = ReentrantLock()


def start(host: str, port: int | None, title: str) -> tuple[Any, Access]:
    """A `viser.ViserServer` at this address, without a port at one that is free, and who has access to it."""
    with extra("viewer", "robots are shown by the package viser"):
        import viser  # noqa: PLC0415 - slow to import
    if not isinstance(host, str) or not host:
        raise ArgumentError(f"host is {short(host)}; expected an address such as {LOOPBACK!r}")
    wanted = 0 if port is None else port
    if not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted <= 65535:
        raise ArgumentError(f"port is {short(port)}; expected a number from 1 to 65535, or None for one that is free")
    _check_free(host, wanted)
    access = Access(host)
    with _silent({threading.get_ident()}), _guarding_serve():
        server = viser.ViserServer(host=_GuardedHost(access), port=wanted, label=title, verbose=False)
    if not access.guards:
        stop(server)
        raise KinetreeError("this version of viser starts its server in a way that access to it cannot be checked")
    if wanted not in (0, server.get_port()):  # somebody was faster
        stop(server)
        raise _taken(host, wanted)
    server.request_share_url = _no_tunnel  # a page must not open this machine to the world
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
    server.gui.main_panel.dock_right()
    return server, access


class _GuardedHost(str):
    """An address that brings its access along, to where viser starts to listen."""

    __slots__ = ("access",)
    access: Access

    def __new__(cls, access: Access) -> _GuardedHost:
        host = super().__new__(cls, access.host)
        host.access = access
        return host


@contextlib.contextmanager
def _guarding_serve() -> Iterator[None]:
    """Meanwhile, servers at a `_GuardedHost` check every request first; viser has no means of its own for that."""
    import websockets.asyncio.server as asynchronous  # noqa: PLC0415 - comes with viser
    from websockets.datastructures import Headers  # noqa: PLC0415
    from websockets.http11 import Response  # noqa: PLC0415

    original: Any = asynchronous.serve

    @functools.wraps(original)
    def serve(handler: Any, host: Any = None, *args: Any, process_request: Any = None, **options: Any) -> Any:
        if not isinstance(host, _GuardedHost):
            return original(handler, host, *args, process_request=process_request, **options)
        access = host.access

        def checked(connection: Any, request: Any) -> Any:
            refusal = access.refusal(request.path, request.headers)
            if refusal is None:
                request.path = access.within(request.path)
                answer = process_request(connection, request)
                if answer is not None:
                    answer.headers.update(PRIVATE)
                    if answer.headers.get("Content-Type", "").startswith("text/html"):
                        _add_names(answer)
                return answer
            status, headers, text = refusal
            return Response(status.value, status.phrase, Headers(headers, Connection="close"), text.encode())

        access.guards = True
        return original(handler, str(host), *args, process_request=checked, **options)

    with _patching:
        setattr(asynchronous, "serve", serve)  # noqa: B010 - to the type checker it is a class
        try:
            yield
        finally:
            setattr(asynchronous, "serve", original)  # noqa: B010


def with_names(page: str) -> str:
    """The page, which then tells the name of what lies under the mouse."""
    script = Path(__file__).with_name("hover.js").read_text(encoding="utf-8")
    head, found, rest = page.partition("</head>")
    return f"{head}<script>{script}</script>{found}{rest}" if found else page


def _add_names(answer: Any) -> None:
    packed = answer.headers.get("Content-Encoding") == "gzip"
    page = gzip.decompress(answer.body) if packed else answer.body
    body = _named_page(page)
    answer.body = gzip.compress(body, 1) if packed else body
    del answer.headers["Content-Length"]
    answer.headers["Content-Length"] = str(len(answer.body))


@functools.cache
def _named_page(page: bytes) -> bytes:
    return with_names(page.decode("utf-8")).encode("utf-8")


def stop(server: Any) -> None:
    """Ends the server: its port is free afterwards, its threads are gone."""
    thread = server._websock_server._server_thread
    with _silent({thread.ident}):
        server.stop()


def png(pixels: Any) -> bytes:
    """An image (height, width, 3 or 4) of bytes as a PNG file."""
    import imageio.v3  # noqa: PLC0415 - viser needs it too

    return imageio.v3.imwrite("<bytes>", pixels, extension=".png")


def _check_free(host: str, port: int) -> None:
    """Raises unless the port can be had; zero is any."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except PermissionError:
        raise KinetreeError(f"port {port} needs more rights than this user has; choose one above 1023") from None
    except socket.gaierror:
        raise ArgumentError(f"host is {short(host)}, which is no address of this machine") from None
    except OSError:
        if port == 0:
            raise ArgumentError(f"host is {short(host)}, which is no address of this machine") from None
        raise _taken(host, port) from None


def _taken(host: str, port: int) -> KinetreeError:
    return KinetreeError(f"port {port} of {host} is taken; leave port out for one that is free")


def _no_tunnel(verbose: bool = True) -> None:
    """Instead of viser's offer to show the page to everybody."""


@contextlib.contextmanager
def _silent(threads: set[int]) -> Iterator[None]:
    """What these threads print is dropped meanwhile: viser greets on standard output, which belongs to the user."""
    with contextlib.redirect_stdout(_Others(sys.stdout, threads)):
        yield


class _Others(io.TextIOBase):
    """A stream that lets through what other threads write."""

    def __init__(self, stream: TextIO, silent: set[int]) -> None:
        self.stream, self.silent = stream, silent

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() in self.silent else self.stream.write(text)

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.stream.encoding
