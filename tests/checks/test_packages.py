from checks import packages


def project(root, listed, files):
    names = ", ".join(f'"{name}"' for name in listed)
    (root / "pyproject.toml").write_text(f"[tool.setuptools]\npackages = [{names}]\n")
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    return root


def test_a_package_that_the_list_omits_is_reported(tmp_path):
    root = project(tmp_path, ["ohr", "ohr.noise"], ["ohr/__init__.py", "ohr/graph/cells.py", "noise/__init__.py"])
    assert packages.faults(root) == ["pyproject.toml: packages: add ohr.graph: a wheel would not contain it"]


def test_a_listed_package_that_does_not_exist_is_reported(tmp_path):
    root = project(tmp_path, ["ohr", "ohr.gone", "ohr.pipelines"], ["ohr/__init__.py"])
    assert packages.faults(root) == ["pyproject.toml: packages: delete ohr.gone: it does not exist"]
