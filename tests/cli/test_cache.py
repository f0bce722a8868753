"""kinetree cache: where, how much, empty, fill."""

import json

import pytest

import kinetree as kt
from declared import OF_ROBOT
from targets import RUNNABLE

WARMED = [name for name, quantity in OF_ROBOT.items() if not quantity.is_large]


def said(cli, *arguments, code=0):
    return json.loads(cli("cache", *arguments, "--json", code=code).stdout)


def test_where_and_size(cli, own_cache):
    assert said(cli) == {"where": str(own_cache), "bytes": 0}
    assert said(cli, "where") == {"where": str(own_cache)}
    assert said(cli, "size") == {"bytes": 0}
    assert cli("cache", "where").stdout == f"{own_cache}\n"
    assert cli("cache").stdout == f"{own_cache}\n0.0 kB\n"


@pytest.mark.sweep
def test_warm_then_clear(cli, own_cache):
    content = said(cli, "warm", "planar2", "cartpole")
    assert [row["robot"] for row in content["robots"]] == ["planar2", "cartpole"]
    for row in content["robots"]:
        assert row["quantities"] == WARMED
        assert row["seconds"] > 0
    assert content["bytes"] == kt.cache.size() > 0
    entries = len(list(own_cache.glob("*.kinetree")))
    # a record, code for one state and for batches; equal graphs share their code
    assert 2 * 2 * len(WARMED) < entries <= 2 * 3 * len(WARMED)
    assert f"{kt.cache.size() / 1e6:.1f} MB" in cli("cache", "size").stdout
    freed = kt.cache.size()
    assert said(cli, "clear") == {"removed": entries, "bytes": freed}
    assert kt.cache.size() == 0
    assert cli("cache", "clear").stdout == "removed 0 entries, 0.0 kB\n"


def test_warm_some_quantities(cli, own_cache):
    result = cli("cache", "warm", "planar2", "-q", "mass_matrix", "--no-batch")
    assert len(list(own_cache.glob("*.kinetree"))) == 2  # a record, and code for one state
    assert "planar2" in result.stdout and str(own_cache) in result.stdout
    assert "removed 2 entries" in cli("cache", "clear").stdout


def test_wrong_names(cli, own_cache):
    assert "did you mean 'arm6'?" in cli("cache", "warm", "planar2", "armm6", code=1).stderr
    assert not own_cache.exists(), "names are looked at before any work"
    assert "did you mean 'mass_matrix'?" in cli("cache", "warm", "planar2", "-q", "mas_matrix", code=1).stderr
    assert "ROBOT" in cli("cache", "warm", code=2).stderr
    cli("cache", "wehre", code=2)


def test_a_cache_that_is_switched_off(cli, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE", "0")
    assert said(cli) == {"where": None, "bytes": 0}
    assert "switched off" in cli("cache", "where").stdout
    assert cli("cache", "warm", "planar2", code=1).stderr.startswith("error: the cache is switched off")


def test_the_library_reports_what_it_warms(own_cache):
    seen = []
    kt.cache.warm(kt.load("planar2"), "mass_matrix", "poses", batch=False, report=lambda *words: seen.append(words))
    assert seen == [("mass_matrix", 0, 2), ("poses", 1, 2)]
    with pytest.raises(kt.UnknownNameError, match="did you mean 'poses'"):
        kt.cache.warm(kt.load("planar2"), "mass_matrix", "pose")


def test_export_and_import(cli, own_cache, tmp_path):
    file, cpu = tmp_path / "fleet.cache", RUNNABLE[1]
    assert cli("cache", "export", str(file), code=1).stderr == "error: the cache holds no code of this installation\n"
    cli("cache", "warm", "planar2", "-q", "mass_matrix", "--cpu", cpu)
    content = said(cli, "export", str(file), "--cpu", cpu)
    assert content["cpus"] == {cpu: 5} and content["bytes"] == file.stat().st_size
    text = cli("cache", "export", str(file)).stdout
    assert text == f"5 entries for {cpu}, {content['bytes'] / 1e3:.1f} kB\nSHA-256 {content['sha256']}\n"
    kt.cache.clear()
    assert "expected 'wrong'" in cli("cache", "import", str(file), "--sha256", "wrong", code=1).stderr
    text = cli("cache", "import", str(file), "--sha256", content["sha256"]).stdout
    assert text == f"5 entries for {cpu}, 5 of them new\nThis machine uses them with KINETREE_CPU={cpu}\n"
    assert said(cli, "import", str(file)) == {**content, "added": 0}
    assert said(cli, "import", str(file) + "x", code=1) == {
        "error": f"{file}x cannot be read: No such file or directory"
    }
    assert "cpu is 'z80'; expected" in cli("cache", "warm", "planar2", "--cpu", "z80", code=1).stderr
