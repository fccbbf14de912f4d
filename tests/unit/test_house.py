"""Rules of the house: no module hides behind a function, public functions show their use."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest
import writeamp as wa

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (wa, wa.models, wa.meanfield, wa.allocation, wa.traces)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
}

# Packages whose names are imported when they are first asked for.
LATE = (
    "allocation",
    "blackbox",
    "custom",
    "meanfield",
    "measure",
    "models",
    "plots",
    "traces",
)


def test_no_module_is_shadowed_by_what_its_package_exports() -> None:
    for found in pkgutil.walk_packages(wa.__path__, "writeamp."):
        # One is no Python, the other a plugin that only nbdkit loads.
        if found.name in ("writeamp._engine", "writeamp._nbdkit"):
            continue
        module = importlib.import_module(found.name)
        package, _, name = found.name.rpartition(".")
        assert getattr(importlib.import_module(package), name) is module, found.name


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_function_has_an_example_that_the_tests_run(name: str) -> None:
    assert ">>>" in (PUBLIC[name].__doc__ or "")


def test_users_reach_theory_by_the_names_they_know() -> None:
    for name in ("models", "meanfield", "allocation", "traces"):
        assert isinstance(getattr(wa, name), ModuleType)
        assert importlib.import_module(f"writeamp.{name}") is getattr(wa, name)
    assert wa.allocation.marginal is wa.allocation.equal_gain


@pytest.mark.parametrize("package", ["writeamp", *(f"writeamp.{n}" for n in LATE)])
def test_names_that_are_imported_late_are_listed_before(package: str) -> None:
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
