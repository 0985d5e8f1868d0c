"""The public names of the package, each where it is said to be."""

import rankgauge.retrievers as package


def test_every_name_is_there() -> None:
    assert sorted(name for names in package._HOME.values() for name in names) == sorted(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None
