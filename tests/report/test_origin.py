"""The report on the code that made a run."""

from types import SimpleNamespace

from ohr.report.views.sections import provenance

DIGITS = "0123456789abcdef0123456789abcdef01234567"


def rows(**manifest):
    (view,) = provenance(SimpleNamespace(manifest=manifest))
    return dict(view.rows)


def test_commits_and_the_packages_of_all_plugins_are_shown():
    origins = {
        "ohr": {"version": "0.1.0", "commit": f"{DIGITS}-dirty", "packages": {"tantivy": "0.27.0", "numpy": "2.0"}},
        "my-engine": {"version": "1.2", "commit": DIGITS, "packages": {"their-models": "3"}},
        "ohr_plugin_mine": {"plugins": ["metric mine"]},
    }
    shown = rows(ohr="0.1.0", packages={"numpy": "2.0"}, origins=origins)
    assert shown["ohr"] == "0.1.0 (commit 0123456789ab, changed since)"
    assert shown["plugins from elsewhere"] == "my-engine 1.2 (commit 0123456789ab), ohr_plugin_mine"
    assert shown["packages"] == "numpy 2.0, tantivy 0.27.0, their-models 3"


def test_a_manifest_without_origins_shows_its_version():
    assert rows(ohr="0.1.0", packages=None) == {"ohr": "0.1.0"}
