"""What the wheel holds: both packages, and the top of this folder inside `workbench`.

`pyproject.toml` says all the rest. It cannot say that `app.py`, `pages/` and
`.streamlit/` are `workbench/installed` once installed, so that the server of a wheel
runs the very files of a checkout.
"""

from setuptools import find_packages, setup

setup(
    script_name="setup.py",  # it stays out of the wheel, app.py beside it does not
    packages=[
        *find_packages(include=["dpcore*", "workbench*"]),
        "workbench.installed",
        "workbench.installed.pages",
    ],
    package_dir={"workbench.installed": ".", "workbench.installed.pages": "pages"},
)
