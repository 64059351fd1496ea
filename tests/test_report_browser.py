"""The report in a browser, opened from its folder: with scripts and without, by keyboard, on a phone."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_report import HOSTILE, PICTURED, VILE, Site, left, right, site

sync_api = pytest.importorskip("playwright.sync_api")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PHONE, DESK = {"width": 390, "height": 800}, {"width": 1280, "height": 900}
PAGES = (
    "index.html", "overlaps.html", "rules.html", "data-docs/index.html",
    "tasks/mood.html", "tasks/warmth.html", "tasks/insults.html", "tasks/better.html",
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Site:
    return site(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def browser() -> Iterator["sync_api.Browser"]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


class Visit:
    """A window on the report that notes errors and every request."""

    def __init__(self, browser, folder: Path, **options):
        self.folder = folder
        self.context = browser.new_context(**{"viewport": DESK} | options)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("requestfailed", lambda request: self.wrong.append(f"not loaded: {request.url}"))
        self.page.on("dialog", lambda dialog: (self.wrong.append("a dialog"), dialog.dismiss()))
        self.context.on("request", self._is_local)

    def _is_local(self, request) -> None:
        if not request.url.startswith(self.folder.as_uri()):
            self.wrong.append(f"asked for {request.url}")

    def open(self, path: str):
        self.page.goto((self.folder / path).as_uri(), wait_until="load")
        return self.page

    def shown(self, table: str) -> list[str]:
        """The first cell of every row of a table that can be seen."""
        return [
            words.split("\n")[0].strip()
            for words in self.page.locator(f"#{table} tbody tr:visible > :first-child").all_inner_texts()
        ]


@pytest.fixture
def visit(browser, made, request) -> Iterator[Visit]:
    visit = Visit(browser, made.folder, **getattr(request, "param", {}))
    yield visit
    visit.context.close()
    assert visit.wrong == []


@pytest.mark.parametrize("visit", [{}, {"color_scheme": "dark"}, {"java_script_enabled": False}], indirect=True)
def test_no_page_has_errors_or_asks_for_anything_but_its_own_files(visit):
    for path in PAGES:
        page = visit.open(path)
        images = page.locator("img")
        for number in range(images.count()):
            images.nth(number).scroll_into_view_if_needed()
        assert page.locator("h1").count() == 1


@pytest.mark.parametrize("visit", [{"viewport": PHONE}], indirect=True)
def test_a_phone_scrolls_no_page_sideways(visit):
    for path in PAGES:
        page = visit.open(path)
        page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
        widths = page.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth]")
        assert max(widths) <= PHONE["width"], path


def test_the_search_leaves_the_rows_that_hold_all_its_words(visit):
    page = visit.open("index.html")
    assert visit.shown("tasks") == ["mood", "warmth", "better", "insults"]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.get_by_label("Search").focus()
    page.keyboard.type("CHAT duplicate")
    assert visit.shown("tasks") == ["mood", "warmth"]
    assert page.locator("form output").inner_text() == "2 of 4"
    page.get_by_label("Search").fill("no such task")
    assert visit.shown("tasks") == []


def test_category_and_status_filter_together(visit):
    page = visit.open("index.html")
    page.locator("select[name=status]").select_option("warnings")
    assert visit.shown("tasks") == ["warmth", "insults"]
    page.locator("select[name=category]").select_option("offensiveness")
    assert visit.shown("tasks") == ["insults"]
    page.locator("select[name=category]").select_option("all")
    page.locator("select[name=status]").select_option("clean")
    assert visit.shown("tasks") == ["better"]


def test_a_heading_sorts_by_keyboard_first_up_then_down(visit):
    """Items: mood 37, warmth 38, better 20, insults 20. Equal ones stay in the order they are in."""
    page = visit.open("index.html")
    page.get_by_role("button", name="items", exact=True).focus()
    page.keyboard.press("Enter")
    assert visit.shown("tasks") == ["better", "insults", "mood", "warmth"]
    assert page.locator("th[aria-sort=ascending]").all_inner_texts() == ["items"]
    page.keyboard.press("Space")
    assert visit.shown("tasks") == ["warmth", "mood", "better", "insults"]
    assert page.locator("th[aria-sort=descending]").all_inner_texts() == ["items"]
    page.get_by_role("button", name="task", exact=True).press("Enter")
    assert visit.shown("tasks") == ["better", "insults", "mood", "warmth"]
    assert page.locator("th[aria-sort]").count() == 1


@pytest.mark.parametrize("visit", [{"java_script_enabled": False}], indirect=True)
def test_without_scripts_there_is_the_whole_table_and_nothing_that_would_not_work(visit):
    page = visit.open("index.html")
    assert visit.shown("tasks") == ["mood", "warmth", "better", "insults"]
    assert page.locator("form:visible, thead button").count() == 0


@pytest.mark.parametrize("visit", [{}, {"java_script_enabled": False}], indirect=True)
def test_offensive_texts_are_seen_only_after_the_warning_was_opened(visit):
    page = visit.open("tasks/insults.html")
    assert page.locator("#content-warning").is_visible()
    assert VILE not in page.locator("body").inner_text()
    summary = page.locator("#samples > summary")
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("#samples").get_attribute("open") is not None
    assert f"{VILE} 3 has" in page.locator("#samples").inner_text()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert VILE not in page.locator("body").inner_text()


def test_items_can_be_searched_and_filtered_by_split_and_label(visit):
    page = visit.open("tasks/better.html")
    page.get_by_label("Search").fill(f"{right(7)} left")
    assert page.locator("#items tbody tr:visible").count() == 1
    assert left(7) in page.locator("#items tbody tr:visible").inner_text()
    page.get_by_label("Search").fill("")
    page.locator("select[name=split]").select_option("test")
    assert visit.shown("items") == ["test", "test"]
    page.locator("select[name=label]").select_option("good")
    assert visit.shown("items") == ["test"]


def test_hostile_texts_are_text(visit):
    page = visit.open("tasks/mood.html")
    texts = page.locator("#items bdi.text").all_text_contents()
    assert {*HOSTILE[:3], PICTURED, HOSTILE[5]} <= set(texts)
    assert page.locator("#items").locator("script, img, b").count() == 0
    # What runs from right to left turns nothing round but itself.
    row = page.locator("#items tr", has_text="this runs from right to left")
    assert row.locator("bdi.text").evaluate("text => getComputedStyle(text).unicodeBidi") == "isolate"


def test_a_long_text_opens_in_place_of_its_beginning(visit):
    page = visit.open("tasks/mood.html")
    row = page.locator("#items tr", has_text="whole text")
    assert row.locator(".cut").is_visible()
    row.locator("summary").press("Enter")
    assert not row.locator(".cut").is_visible()
    assert row.locator("details bdi").inner_text() == "unbroken" * 150
