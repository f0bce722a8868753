"""The viewer in a real Chromium: one page from loading to closing, and a page that needs no server."""

import io
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer.camera import point_camera

sys.path.insert(0, str(Path(__file__).parent))
from chromium import browser

pytest.importorskip("viser")

SMALL = {"width": 320, "height": 240}
START = np.array([0.3, -0.8, 1.2, -0.4, 1.0, 0.0])


def wait_for(condition, what, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.05)


def differs(one, other):
    """The part of the pixels that are clearly not the same."""
    return float((np.abs(one.astype(int) - other.astype(int)).max(axis=-1) > 40).mean())


def on_screen(page, client, point):
    """Where in the page a point of the world is drawn, in pixels."""
    camera, canvas = client.camera, page.locator("canvas").first.bounding_box()
    back = np.asarray(camera.position) - np.asarray(camera.look_at)
    z = back / np.linalg.norm(back)
    x = np.cross([0.0, 0.0, 1.0], z)
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    seen = np.asarray(point) - np.asarray(camera.position)
    focal = 0.5 * canvas["height"] / np.tan(0.5 * camera.fov)
    right, up, away = x @ seen, y @ seen, -z @ seen
    middle = np.array([canvas["x"] + 0.5 * canvas["width"], canvas["y"] + 0.5 * canvas["height"]])
    return middle + focal / away * np.array([right, -up])


def grip(page, client, target, axis):
    """Where the arrow of a gizmo is, and a place farther along."""
    origin, along = target.pose[:3, 3], target.gizmo.scale * target.pose[:3, axis]
    return [on_screen(page, client, origin + k * along) for k in (0.9, 1.6)]


def drag(page, start, end, steps=8):
    page.mouse.move(start[0] - 1, start[1])
    page.mouse.move(*start)
    page.wait_for_timeout(500)
    page.mouse.down()
    for k in range(1, steps + 1):
        page.mouse.move(*(np.array(start) + k / steps * np.subtract(end, start)))
        page.wait_for_timeout(40)
    page.mouse.up()


def hovered(page, client, point):
    """The name that the page shows where a point of the world is drawn."""
    x, y = on_screen(page, client, point)
    page.mouse.move(x + 3, y)  # a mouse that is there already would not move
    page.mouse.move(x, y)
    page.wait_for_timeout(200)
    return page.locator("#kinetree-hover").evaluate("tip => tip.style.display === 'none' ? '' : tip.textContent")


def test_a_page_from_loading_to_closing(tmp_path):
    arm = kt.load("arm6")
    with browser() as chromium, arm.view(q=START, light="plain") as viewer:
        page = chromium.new_page(viewport={"width": 760, "height": 480})
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(viewer.url)
        page.wait_for_selector("text=shoulder_pan")
        wait_for(viewer.server.get_clients, "a connection")
        client = next(iter(viewer.server.get_clients().values()))

        # It shows the robot: take the robot away, and the picture changes.
        picture = viewer.screenshot(tmp_path / "arm.png", **SMALL)
        assert picture.shape == (240, 320, 3) and (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")
        viewer.show("visual", visible=False)
        assert differs(picture, viewer.screenshot(**SMALL)) > 0.03
        viewer.show("visual")
        assert differs(picture, viewer.screenshot(**SMALL)) < 0.005

        # The mouse shows names: of links with their joints, and of frames where their axes are shown.
        page.evaluate("document.querySelector('.mantine-Notification-closeButton')?.click()")  # "no graphics card"
        point_camera(client, [viewer.first.stage])
        page.wait_for_timeout(500)
        viewer.show("frames")
        tool = arm.frame("tool0").pose(viewer.q)
        for point, name in (
            (arm.frame("forearm_link").pose(viewer.q)[:3, 3], "forearm_link, joint elbow"),
            (tool[:3, 3] + 0.05 * tool[:3, 2], "frame tool0"),
            ([0.0, 0.0, 0.02], "base_link"),
            ([-0.9, 0.0, 0.3], ""),
        ):
            wait_for(lambda point=point, name=name: hovered(page, client, point) == name, f"the name {name!r}", 10.0)
        viewer.show("frames", visible=False)

        # A target that is dragged with the mouse is followed.
        target = viewer.follow("tool0")
        before = target.pose
        for _ in range(6):  # until the gizmo is drawn and feels the mouse; before, a drag turns the camera
            point_camera(client, [viewer.first.stage])
            page.wait_for_timeout(1000)
            drag(page, *grip(page, client, target, axis=0))
            page.wait_for_timeout(300)
            if np.linalg.norm(target.pose[:3, 3] - before[:3, 3]) > 0.02:
                break
        along = target.pose[:3, 3] - before[:3, 3]
        assert abs(along @ before[:3, 0]) > 0.95 * np.linalg.norm(along), "along the axis of the arrow"
        wait_for(lambda: target.settled, "a robot that follows")
        assert target.gap.closed
        np.testing.assert_allclose(arm.frame("tool0").pose(viewer.q)[:3, 3], target.pose[:3, 3], atol=1e-3)
        wait_for(lambda: "tool0: reached" in page.content(), "a line that says so")
        away = target.pose
        away[:3, 3] = [2.0, 0.0, 0.5]
        target.pose = away
        wait_for(lambda: "not reached" in page.content(), "a line that says that it is not reached")
        viewer.follow(None)

        # A slider of the page moves the robot, by keys and by mouse.
        viewer.q = START
        point_camera(client, [viewer.first.stage])
        elbow = page.get_by_role("slider").nth(2)
        elbow.focus()
        for _ in range(30):
            page.keyboard.press("ArrowLeft")
        wait_for(lambda: viewer.q[2] < START[2] - 0.25, "a slider that moves the robot")
        np.testing.assert_array_equal(np.delete(viewer.q, 2), np.delete(START, 2))
        wait_for(lambda: differs(picture, viewer.screenshot(**SMALL)) > 0.01, "another picture")
        thumb = page.get_by_role("slider").nth(0).bounding_box()
        at = (thumb["x"] + 0.5 * thumb["width"], thumb["y"] + 0.5 * thumb["height"])
        drag(page, at, (at[0] + 20, at[1]))
        wait_for(lambda: viewer.q[0] > START[0] + 0.2, "a slider that is dragged")

        # Efforts follow.
        effort = f"{arm.gravity_forces(viewer.q)[1]:.2f} N m"
        wait_for(lambda: effort in page.content(), f"a line that says {effort}")

        # A motion is played and stopped from the page.
        viewer.play((np.array([0.0, 2.0]), np.array([START, START + 0.5])), start=False)
        page.get_by_role("button", name="Play").click()
        wait_for(lambda: viewer.first.playing and viewer.first.time > 0.2, "a motion")
        page.get_by_role("button", name="Pause").click()
        wait_for(lambda: not viewer.first.playing, "a pause")

        # The page itself saves a picture, from the second tab.
        page.get_by_role("tab", name="Show").click()
        page.get_by_label("Inertia").click()
        wait_for(lambda: viewer.first.layers["inertia"].visible, "a layer")
        with page.expect_download(timeout=30000) as saved:
            page.get_by_role("button", name="Screenshot").click()
        assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")
        assert not errors
        port = viewer.port
        viewer.close()
        arm.view(port=port).close()


@pytest.mark.sweep
def test_two_motions_side_by_side():
    arm = kt.load("arm6")
    short = (np.array([0.0, 1.0]), np.array([START, START + 0.2]))
    long = (np.array([0.0, 4.0]), np.array([START, START + 0.8 * np.eye(6)[2]]))
    with browser() as chromium, arm.view({"short": short, "long": long}, light="plain") as viewer:
        page = chromium.new_page(viewport={"width": 960, "height": 640})
        page.goto(viewer.url)
        page.wait_for_selector("text=Together")
        wait_for(viewer.server.get_clients, "a connection")
        one, other = viewer["short"], viewer["long"]
        page.get_by_role("button", name="Pause").first.click()
        wait_for(lambda: not one.playing and not other.playing, "a pause of both")
        time_slider = page.get_by_role("slider").first
        time_slider.focus()
        page.keyboard.press("Home")
        page.keyboard.press("End")
        wait_for(lambda: one.time == other.time == 4.0, "the end of both")
        np.testing.assert_allclose([one.q, other.q], [START + 0.2, START + 0.8 * np.eye(6)[2]], atol=1e-12)
        places = [arm.frame("tool0").pose(shown.q)[:3, 3] for shown in (one, other)]
        apart = f"{np.linalg.norm(places[0] - places[1]):.3f} m apart"
        wait_for(lambda: "long: elbow" in page.content() and "+0.600 rad" in page.content(), "the joint that differs")
        assert apart in page.content()
        client = next(iter(viewer.server.get_clients().values()))
        page.evaluate("document.querySelector('.mantine-Notification-closeButton')?.click()")
        point_camera(client, [shown.stage for shown in viewer.robots.values()])
        point = arm.frame("shoulder_link").pose(other.q)[:3, 3] + other.stage.offset
        wait_for(lambda: hovered(page, client, point).startswith("long: "), "a name with its robot", 20.0)


@pytest.mark.sweep
def test_an_exported_page_needs_no_server_and_no_network(tmp_path):
    arm = kt.load("arm6")
    swing = (np.linspace(0.0, 8.0, 5), np.linspace(START, START + 2.0 * np.eye(6)[0], 5))
    with arm.view(swing, show=["visual", "com"], light="plain") as viewer:
        path = viewer.export(tmp_path / "swing.html", rate=5.0)
        token = viewer.url.rsplit("=", 1)[1]
    assert token not in path.read_text()[-20000:]
    with browser() as chromium:
        context = chromium.new_context(viewport=SMALL, offline=True)
        page = context.new_page()
        asked, errors = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("canvas")
        imread = pytest.importorskip("imageio.v3").imread

        def picture():
            return imread(io.BytesIO(page.screenshot()))[..., :3]

        empty = np.full((240, 320, 3), 255)
        wait_for(lambda: differs(picture(), empty) > 0.03, "a robot", 30.0)
        first = picture()
        wait_for(lambda: differs(picture(), first) > 0.005, "a motion", 30.0)
        page.evaluate("document.querySelector('.mantine-Notification-closeButton')?.click()")
        names = set()
        for x in range(100, 220, 8):  # somewhere in the middle is the robot
            page.mouse.move(x, 140)
            page.wait_for_timeout(120)
            names.add(page.locator("#kinetree-hover").text_content().partition(",")[0])
        assert names & set(arm.frame_names), "names are there, too"
        assert not errors
        assert not [each for each in asked if each.startswith(("http:", "https:", "ws:"))], asked
