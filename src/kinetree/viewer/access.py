"""Who may see and move the robots of a page: requests with its token, from its own address."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import socket
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

PRIVATE = {"Referrer-Policy": "no-referrer"}
"""Other pages do not learn where a link was followed."""
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
OTHER_TOKEN = "this page needs its token: open the whole address that the viewer printed, with ?token=…"


class Refusal(NamedTuple):
    """The answer to a request that is not served as it is."""

    status: HTTPStatus
    headers: dict[str, str]
    text: str


class Access:
    """Decides which requests a viewer answers.

    Any web page that the user visits can send requests to a server on the loopback, and a hostile name server can make
    its own name mean the loopback. So a request must name this machine in `Host`, come from the viewer's own page if a
    page sends it (`Origin`), and carry the token: in the address that the user opens, afterwards in a cookie. Browsers
    send cookies to all ports of a machine, where servers of other users may listen; so this one belongs to a path that
    nobody can guess, and the page is served there alone.
    """

    def __init__(self, host: str) -> None:
        """`host` is the address the server listens at."""
        self.token = secrets.token_urlsafe(24)
        self.place = f"/{secrets.token_urlsafe(12)}"
        self.cookie = f"kinetree_{hashlib.sha256(self.token.encode()).hexdigest()[:12]}"  # ports share their cookies
        self.host, self.guards = host, False
        self._host = host.strip("[]").lower()
        self._names = {*LOOPBACK_NAMES, self._host}
        if self._host not in LOOPBACK_NAMES:
            self._names |= {name.lower() for name in (socket.gethostname(), socket.getfqdn())}

    def refusal(self, path: str, headers: Any) -> Refusal | None:
        """What to answer instead of the page or the connection; None lets the request through."""
        try:
            return self._refusal(path, headers)
        except ValueError:  # an address that is none, or in no known encoding
            return _forbidden("the request cannot be read")

    def within(self, path: str) -> str:
        """The path of a request that was let through, as the server behind knows it."""
        return path.removeprefix(self.place) or "/"

    def _refusal(self, path: str, headers: Any) -> Refusal | None:
        host, origin = headers.get_all("Host"), headers.get_all("Origin")
        if len(host) != 1 or not self._is_this_machine(host[0]):
            return _forbidden("the request names another host than this viewer")
        if origin and (len(origin) > 1 or urlsplit(origin[0]).netloc.lower() != host[0].lower()):
            return _forbidden("the request comes from a page of another origin")
        asked = urlsplit(path)
        given = parse_qs(asked.query).get("token", [])
        is_connection = headers.get_all("Upgrade") != []
        if any(map(self._is_token, given)):
            return None if is_connection else self._welcome()
        is_page = asked.path == self.place or asked.path.startswith(f"{self.place}/")
        if is_page and self._is_token(self._from_cookies(headers.get_all("Cookie"))):
            return None
        return _forbidden(OTHER_TOKEN)

    def _welcome(self) -> Refusal:
        """A redirect to the page without the token in its address, which would stay in the browser's history."""
        cookie = f"{self.cookie}={self.token}; HttpOnly; SameSite=Lax; Path={self.place}"
        headers = {"Location": f"{self.place}/", "Set-Cookie": cookie, "Cache-Control": "no-store", **PRIVATE}
        return Refusal(HTTPStatus.SEE_OTHER, headers, "")

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def _from_cookies(self, cookies: list[str]) -> str:
        for each in cookies:
            try:
                morsel = SimpleCookie(each).get(self.cookie)
            except CookieError:
                continue
            if morsel is not None:
                return morsel.value
        return ""

    def _is_this_machine(self, host: str) -> bool:
        """Whether a name with or without a port is one of the loopback or, if others may connect, of this machine."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        return name in self._names or (self._host not in LOOPBACK_NAMES and _is_address(name))


def _is_address(name: str) -> bool:
    """Whether it is a number, which no name server has a say in."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _forbidden(reason: str) -> Refusal:
    return Refusal(HTTPStatus.FORBIDDEN, {"Content-Type": "text/plain; charset=utf-8"}, f"Forbidden: {reason}\n")
