"""Make docs/screenshot.png: the Synthesize page on the census sample.

Needs Chromium and playwright.

python docs/screenshot.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.e2e.browser import Person, chromium, serving  # noqa: E402  (the path first)

with serving() as server, chromium() as browser:
    person = Person(browser, server, device_scale_factor=1.5).visit()
    person.press("Open this sample").know_all().press("Open the data set")
    person.sees("The data set is open").go("Synthesize").release()
    person.press("Release something else").page.wait_for_timeout(500)
    column = (
        person.page.get_by_test_id("stSelectbox")
        .filter(has_text="Column")
        .get_by_role("combobox")
    )
    column.fill("education")
    person.page.get_by_role("option", name="education", exact=True).click()
    person.rest().page.wait_for_timeout(1000)
    person.page.screenshot(path=HERE / "screenshot.png")
    person.close()
