"""Only the user's own page moves the robots of a viewer, and only within their limits."""

import asyncio
import contextlib
import http.client
import http.server
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kinetree as kt

pytest.importorskip("viser")
sys.path.insert(0, str(Path(__file__).parents[1] / "viewer"))
from chromium import browser
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus


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
    assert status == 303 and headers["Location"] == "/"
    assert "HttpOnly" in headers["Set-Cookie"] and "SameSite" in headers["Set-Cookie"]
    cookie = headers["Set-Cookie"].split(";")[0]
    assert get(viewer, Cookie=cookie)[0] == 200
    assert get(viewer, Cookie=cookie[:-1])[0] == 403


def test_a_connection_needs_the_token_of_this_viewer(viewer):
    assert not connects(viewer)
    assert connects(viewer, f"/?token={token(viewer)}")
    with kt.load("planar2").view() as other:
        assert not connects(viewer, f"/?token={token(other)}")
        cookie = get(other, f"/?token={token(other)}")[1]["Set-Cookie"].split(";")[0]
        assert not connects(viewer, Cookie=cookie)


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
        for position, wxyz in (([np.nan] * 3, [1, 0, 0, 0]), ([0, 0, 1], [0, 0, 0, 0]), ([0, 0, 1], [np.inf] * 4)):
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

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
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
            hostile = context.new_page()
            for name in ("127.0.0.1", "localhost"):
                hostile.goto(f"http://{name}:{server.server_port}/")
                assert hostile.evaluate(f"attempt('ws://127.0.0.1:{viewer.port}/')") == "refused"
                blocked = f"fetch('http://127.0.0.1:{viewer.port}/', {{credentials: 'include'}}).then(a => a.status)"
                assert hostile.evaluate(f"{blocked}.catch(() => 'blocked')") == "blocked"
    finally:
        server.shutdown()
        server.server_close()
