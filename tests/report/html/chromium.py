"""Headless Chromium for pages that must be readable, and ask nobody but their own address."""

import shutil
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from tests.conftest import serving

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Debian's package chromium is not installed")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

CONTRAST = """() => {
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !node.checkVisibility()) continue;
    if (node.closest("script, style, option")) continue;
    const look = getComputedStyle(node);
    const color = parse(node.closest("svg") ? look.fill : look.color);
    if (color.length === 4 && color[3] === 0) continue;
    const [a, b] = [light(color.slice(0, 3)), light(behind(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${node.tagName}: ${node.textContent.slice(0, 40)}`);
  }
  return [...new Set(found)];
}"""


@contextmanager
def opened(browser, address, **look):
    """Open a page; anything on the console, any request beyond the page's own and any dialog fails the test."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | look)
    context.set_default_timeout(30_000)
    page, heard = context.new_page(), []
    own = address.rpartition("/")[0]
    page.on("console", lambda message: heard.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: heard.append(dialog.message))
    page.on("request", lambda sent: sent.url.startswith(("data:", "blob:", own)) or heard.append(sent.url))
    page.goto(address)
    page.wait_for_selector("html[data-ready=yes]", state="attached")
    yield page
    assert heard == []
    context.close()


@contextmanager
def asking(server):
    """Serve; yields the address, and a function from a request to the answer's status and body, or a head's length."""

    def ask(path, body=None, verb="GET", **headers):
        asked = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        asked.request(verb if body is None else "POST", path, body=body, headers=headers)
        answer = asked.getresponse()
        status, content = answer.status, answer.read()
        asked.close()
        return status, int(answer.headers["Content-Length"]) if verb == "HEAD" else content

    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}/", ask
