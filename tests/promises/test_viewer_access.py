"""Only the user's own page moves the robots of a viewer, and only within their limits.

Covers: viewer/access.py.
"""

import asyncio
import contextlib
import http.client
import http.server
import socket
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

import kinetree as kt

pytest.importorskip("viser")
sys.path.insert(0, str(Path(__file__).parents[1] / "viewer"))
from chromium import browser
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus


@pytest.fixture(scope="module")
def viewer():
    with kt.load("arm6").view(light="plain") as viewer:
        yield viewer


def token(viewer):
    return viewer.url.rsplit("=", 1)[1]


def get(viewer, path="/", **headers):
    """Status, headers and text of an answer."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=5.0)) as connection:
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as answer:
            return answer.status, answer.headers, answer.read().decode(errors="replace")


def connects(viewer, path="/", **headers):
    """Whether a websocket opens."""
    import viser  # noqa: PLC0415

    async def attempt():
        address = f"ws://127.0.0.1:{viewer.port}{path}"
        options = {"additional_headers": headers, "subprotocols": [f"viser-v{viser.__version__}"]}
        try:
            async with connect(address, **options) as connection:
                await asyncio.wait_for(connection.recv(), 5.0)
        except InvalidStatus as problem:
            assert problem.response.status_code == 403
            return False
        return True

    return asyncio.run(attempt())


def test_the_page_needs_its_token(viewer):
    for path in ("/", "/?token=", "/?token=wrong", f"/?Token={token(viewer)}", "/index.html"):
        status, _, text = get(viewer, path)
        assert status == 403 and "token" in text, path
    status, headers, _ = get(viewer, f"/?token={token(viewer)}")
    page = headers["Location"]
    assert status == 303 and token(viewer) not in page
    assert "HttpOnly" in headers["Set-Cookie"] and "SameSite" in headers["Set-Cookie"]
    cookie = headers["Set-Cookie"].split(";")[0]
    status, headers, _ = get(viewer, page, Cookie=cookie)
    assert status == 200 and headers["Referrer-Policy"] == "no-referrer", "links tell nobody where they were followed"
    assert get(viewer, page, Cookie=cookie[:-1])[0] == get(viewer, page)[0] == 403


def test_the_cookie_is_for_a_path_that_nobody_can_guess(viewer):
    """Browsers send it to servers on other ports of this machine, who may be of other users, for its path alone."""
    headers = get(viewer, f"/?token={token(viewer)}")[1]
    cookie, *attributes = headers["Set-Cookie"].split("; ")
    assert f"Path={headers['Location'].rstrip('/')}" in attributes and len(headers["Location"]) > 16
    for path in ("/", "/index.html", f"{headers['Location'][:-2]}", "/x"):
        assert get(viewer, path, Cookie=cookie)[0] == 403


@pytest.mark.parametrize(
    "path", ["../../__init__.py", "%2e%2e/%2e%2e/__init__.py", "..%5c..%5c__init__.py", "/etc/passwd", "%00", "a/../b"]
)
def test_no_file_but_those_of_the_page_is_served(viewer, path):
    headers = get(viewer, f"/?token={token(viewer)}")[1]
    cookie = headers["Set-Cookie"].split(";")[0]
    assert get(viewer, headers["Location"] + path, Cookie=cookie)[0] in (404, 403, 500)


@pytest.mark.parametrize(
    "lines",
    [
        b"Origin: http://[\r\n",
        b"Origin: \xff\xfe\r\n",
        b"Cookie: \xff=\xfe\r\n",
        b"Cookie: a=\x01\r\n",
        b"Origin: a\r\nOrigin: b\r\n",
        b"Host: evil.example\r\n",
    ],
)
@pytest.mark.parametrize("path", [b"/", b"/?token=\xff", b"//[", b"/?token=%ff%00"])
def test_requests_that_are_none_are_refused(viewer, path, lines, capfd):
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=5.0) as connection:
        connection.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + lines + b"\r\n")
        answer = connection.makefile("rb").read()
    assert not answer or answer.split(b" ")[1] in (b"403", b"400")
    assert "Traceback" not in capfd.readouterr().err


def test_many_who_knock_do_not_keep_the_user_out(viewer):
    with contextlib.ExitStack() as opened:
        for _ in range(100):
            waiting = opened.enter_context(socket.create_connection(("127.0.0.1", viewer.port), timeout=5.0))
            waiting.sendall(b"GET / HTTP/1.1\r\n")
        assert connects(viewer, f"/?token={token(viewer)}")


def test_a_connection_needs_the_token_of_this_viewer(viewer):
    assert not connects(viewer)
    assert connects(viewer, f"/?token={token(viewer)}")
    with kt.load("planar2").view() as other:
        assert not connects(viewer, f"/?token={token(other)}")
        headers = get(other, f"/?token={token(other)}")[1]
        cookie = headers["Set-Cookie"].split(";")[0]
        assert connects(other, headers["Location"].rstrip("/"), Cookie=cookie)
        assert not connects(viewer, headers["Location"].rstrip("/"), Cookie=cookie)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1", "http://localhost:1", "file://"]
)
def test_a_page_of_another_origin_is_refused_even_with_the_token(viewer, origin):
    assert not connects(viewer, f"/?token={token(viewer)}", Origin=origin)
    assert get(viewer, f"/?token={token(viewer)}", Origin=origin)[0] == 403


def test_the_viewers_own_origin_is_accepted(viewer):
    assert connects(viewer, f"/?token={token(viewer)}", Origin=f"http://127.0.0.1:{viewer.port}")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "[", ""])
def test_a_name_that_was_rebound_to_the_loopback_is_refused(viewer, host):
    assert get(viewer, f"/?token={token(viewer)}", Host=host)[0] == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:9999", "LOCALHOST", "[::1]:80"])
def test_names_of_the_loopback_are_accepted_behind_any_forwarded_port(viewer, host):
    assert get(viewer, f"/?token={token(viewer)}", Host=host)[0] == 303


def test_a_viewer_that_others_may_reach_needs_the_token_too():
    with kt.load("planar2").view(host="0.0.0.0") as viewer:
        assert viewer.url.startswith("http://127.0.0.1:")
        assert get(viewer, Host="192.0.2.7:80")[0] == 403
        assert get(viewer, f"/?token={token(viewer)}", Host="192.0.2.7:80")[0] == 303
        assert get(viewer, f"/?token={token(viewer)}", Host="evil.example")[0] == 403


def test_servers_of_the_user_are_left_alone():
    import websockets.asyncio.server as asynchronous  # noqa: PLC0415

    before = asynchronous.serve
    with kt.load("planar2").view():
        assert asynchronous.serve is before


# -- what a page may ask for ---------------------------------------------------------------------------------------


def by_page(handle, value):
    """As a page that has the token, but ignores the ends and choices of its controls, sets a value; viser casts it."""
    handle._impl.value = type(handle._impl.value)(value)
    for callback in handle._impl.update_cb:
        callback(SimpleNamespace(client=object(), client_id=0, target=handle))


def test_sliders_end_at_the_limits_whatever_a_page_sends(viewer):
    robot, panel = viewer.first.robot, viewer.panels[0]
    for sent in (30.0, -1e300, float("nan"), float("inf")):
        by_page(panel.sliders[0].handle, sent)
        assert robot.limits.lower[0] <= viewer.q[0] <= robot.limits.upper[0]
    by_page(panel.sliders[0].handle, 0.25)
    assert viewer.q[0] == 0.25


def test_messages_of_a_connection_end_at_the_limits_too(viewer):
    """As bytes, past the page and its controls."""
    robot, slider = viewer.first.robot, viewer.panels[0].sliders[0].handle
    lower, upper = robot.limits.lower[0], robot.limits.upper[0]
    for value in (30.0, -1e300, float("nan"), float("-inf"), 0.125):
        update = {"type": "GuiUpdateMessage", "uuid": slider._impl.uuid, "updates": {"value": value}}
        send(viewer, CAMERA, update)
        end = min(max(value, lower), upper)
        until(lambda end=end: abs(viewer.q[0] - end) < 0.01 or np.isnan(end))
        assert lower <= viewer.q[0] <= upper


@pytest.mark.parametrize("message", [b"", b"\xff" * 100, b"\x81\xa4type\xa1x", b"\xdf\xff\xff\xff\xff", bytes(10**6)])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_messages_that_are_none_end_a_connection_and_nothing_else(viewer, message):
    before = viewer.q
    send(viewer, message)
    np.testing.assert_array_equal(viewer.q, before)
    assert connects(viewer, f"/?token={token(viewer)}") and viewer._thread.is_alive()


CAMERA = {"type": "ViewerCameraMessage", "fov": 1.0, "near": 0.1, "far": 9.0, "image_height": 9, "image_width": 9}
CAMERA |= {"wxyz": [1, 0, 0, 0], "position": [1, 1, 1], "look_at": [0, 0, 0], "up_direction": [0, 0, 1]}
"""With it a page says that it is there."""


def send(viewer, *messages):
    """To the server, by a client that has the token."""
    import viser  # noqa: PLC0415

    async def talk():
        address = f"ws://127.0.0.1:{viewer.port}/?token={token(viewer)}"
        async with connect(address, subprotocols=[f"viser-v{viser.__version__}"], max_size=None) as connection:
            await asyncio.wait_for(connection.recv(), 5.0)
            for message in messages:
                await connection.send(message if isinstance(message, bytes) else msgspec.msgpack.encode(message))
            with contextlib.suppress(asyncio.TimeoutError, ConnectionClosed):
                while True:
                    await asyncio.wait_for(connection.recv(), 0.3)

    asyncio.run(talk())


def until(done):
    end = time.monotonic() + 20.0
    while not done() and time.monotonic() < end:
        time.sleep(0.01)
    assert done()


def test_other_controls_ignore_what_they_do_not_offer(viewer):
    shown, panel = viewer.first, viewer.panels[0]
    for sent in ("1e9×", "fast", ""):
        by_page(panel.speed, sent)
        assert shown.speed == 1.0
    for sent in ("no_such_frame", ""):
        by_page(panel.target, sent)
        assert shown.target is None


def test_a_gizmo_that_is_nowhere_moves_nothing():
    with kt.load("quadruped", base="floating").view() as viewer:
        base, before = viewer.panels[0].base, viewer.q
        base.show(True)
        nowhere = [([np.nan] * 3, [1, 0, 0, 0]), ([1e300, 0, 0], [1, 0, 0, 0])]
        for position, wxyz in (*nowhere, ([0, 0, 1], [0, 0, 0, 0]), ([0, 0, 1], [np.inf] * 4)):
            asyncio.run(base._dragged(SimpleNamespace(target=SimpleNamespace(position=position, wxyz=wxyz))))
            np.testing.assert_array_equal(viewer.q, before)
        asyncio.run(base._dragged(SimpleNamespace(target=SimpleNamespace(position=[0, 0, 1], wxyz=[2, 0, 0, 0]))))
        np.testing.assert_array_equal(viewer.q[:7], [0, 0, 1, 0, 0, 0, 1])


def test_a_target_is_reached_only_while_the_frame_is_there(viewer):
    viewer.q = [0.3, -0.8, 1.2, -0.4, 1.0, 0.0]
    target = viewer.follow("tool0")
    assert target.status == "reached" and not target.label.visible
    by_page(viewer.panels[0].sliders[1].handle, -1.8)
    assert target.gap.distance > 0.3 and target.status == f"moved away: {target.gap}" and target.label.visible
    viewer.follow(None)


@pytest.mark.parametrize("show", ["com", ["com", "frames"], [], ["support"]])
def test_what_is_shown_on_top_of_a_robot_does_not_hide_it(show):
    with kt.load("arm6").view(show=show) as viewer:
        assert viewer.first.layers["visual"].visible
        assert all(viewer.first.layers[name].visible for name in ([show] if isinstance(show, str) else show))
    with kt.load("arm6").view(show="skeleton") as viewer:
        assert not viewer.first.layers["visual"].visible


# -- a real browser --------------------------------------------------------------------------------------------------

HOSTILE = """<script>
const attempt = address => new Promise(done => {{
  const socket = new WebSocket(address, ["viser-v{version}"]);
  socket.onmessage = () => done("read the scene");
  socket.onerror = socket.onclose = () => done("refused");
}});
</script>"""


def test_a_page_of_another_origin_in_a_browser_that_shows_the_viewer_reads_nothing(viewer):
    """The browser has the viewer's cookie, and the other page runs on another port of the same machine, which shares
    its cookies: the worst case."""
    import viser  # noqa: PLC0415

    cookies = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            cookies.append(self.headers.get("Cookie"))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(HOSTILE.format(version=viser.__version__).encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with browser() as chromium:
            context = chromium.new_context()
            page = context.new_page()
            page.goto(viewer.url)
            page.wait_for_selector("text=shoulder_pan")
            assert "token" not in page.url
            assert [cookie["name"] for cookie in context.cookies()] == [viewer._access.cookie]
            hostile = context.new_page()
            for name in ("127.0.0.1", "localhost"):
                hostile.goto(f"http://{name}:{server.server_port}/")
                assert hostile.evaluate(f"attempt('ws://127.0.0.1:{viewer.port}/')") == "refused"
                own = viewer._access.place  # which it cannot know
                assert hostile.evaluate(f"attempt('ws://127.0.0.1:{viewer.port}{own}')") == "refused"
                blocked = f"fetch('http://127.0.0.1:{viewer.port}/', {{credentials: 'include'}}).then(a => a.status)"
                assert hostile.evaluate(f"{blocked}.catch(() => 'blocked')") == "blocked"
        assert cookies and set(cookies) == {None}, "nobody else is told the token"
    finally:
        server.shutdown()
        server.server_close()


SCRIPT = "<img src=x onerror=window.hacked=1>"


@pytest.mark.sweep
def test_names_in_a_model_are_text_in_the_page():
    """Not HTML: a name could be a script."""
    robot = kt.load("planar2")
    links, joints = ({name: f"{SCRIPT}{name}" for name in names} for names in (robot.frame_names, robot.joint_names))
    hostile = kt.edit.rename(robot, links=links, joints=joints, name=SCRIPT)
    with hostile.view(light="plain", show=["names", "skeleton"]) as viewer:
        viewer.follow(hostile.frame_names[-1])
        until(lambda: "reached" in viewer.panels[0].gap.content)
        for control in (viewer.panels[0].gap, viewer.panels[0].efforts, viewer.panels[0].facts):
            assert "<img" not in control.content
        with browser() as chromium:
            page = chromium.new_page()
            page.goto(viewer.url)
            page.wait_for_selector("text=Target")
            page.wait_for_selector("text=reached")
            assert page.evaluate("window.hacked") is None
