"""Scripts of the pages run without a browser, by the JavaScript engine that Playwright
brings along.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

PAGE = """
"use strict";
// As much of a page as a script of ours asks for: elements with children, classes and listeners.
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
class Element {
  constructor(content = "") {
    Object.assign(this, { children: [], attributes: {}, style: {}, dataset: {}, listeners: {} });
    this.textContent = content;
    this.classes = new Set();
    this.classList = {
      toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)),
      contains: (name) => this.classes.has(name),
    };
  }
  append(child) { this.children.push(child); }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  addEventListener(name, heard) { this.listeners[name] = heard; }
  focus() {}
}
const elements = {};
global.location = { hash: "", href: "https://a/share/b" };
global.history = { replaceState() {} };
global.addEventListener = () => {};
global.document = {
  documentElement: { lang: "en" },
  getElementById: (id) => (elements[id] ??= new Element()),
  createElement: () => new Element(),
};
"""


def run(script: str, given: Any) -> Any:
    """What a script prints as JSON, which has `given` and the elements of a page."""
    try:
        from playwright._impl._driver import compute_driver_executable

        engine = compute_driver_executable()[0]
    except ImportError:
        engine = shutil.which("node")
    if engine is None:
        pytest.skip("neither Playwright nor node is installed")
    done = subprocess.run(
        [engine, "-e", PAGE + script],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
