"""The documentation site, opened from a disk."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_search_works_without_a_server_or_a_network(browser, tmp_path):
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path / "site")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=280)
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "site" / "index.html").as_uri())
    query = page.get_by_role("textbox", name="Search")
    query.click()
    query.press_sequentially("herding", delay=20)
    expect(page.locator(".md-search-result__meta")).to_contain_text("matching documents")
    page.locator(".md-search-result__link").first.click()
    expect(page).not_to_have_title("lqm")
    assert asked
    assert not [url for url in asked if not url.startswith(("file:", "data:", "about:"))]
