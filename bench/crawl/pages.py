"""A site of its own making: pages of 20 to 60 KB with about 70 links each, in folders, with a robots.txt that refuses some."""

import random
from pathlib import Path

LINKS = 70
WORDS = "sea tide moon rises falls twice each day harbour rope anchor salt wind shore gull lamp keeper storm calm north south".split()
ROBOTS = "User-agent: *\nDisallow: /private/\n"


def make(folder: Path, pages: int, seed: int = 1) -> None:
    """Page 0 is the index. Page n links to 2n+1 and 2n+2, so that all can be reached, and to others at random."""
    done = folder / f"made-{pages}-{seed}"
    if done.exists():
        return
    chance = random.Random(seed)
    for page in range(pages):
        path = folder / name(page)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html(page, pages, chance), encoding="utf-8")
    (folder / "private").mkdir(exist_ok=True)
    (folder / "private" / "page.html").write_text("<p>nobody asks for this", encoding="utf-8")
    (folder / "robots.txt").write_text(ROBOTS, encoding="utf-8")
    done.touch()


def name(page: int) -> str:
    return "index.html" if page == 0 else f"d{page % 20:02}/page-{page}.html"


def html(page: int, pages: int, chance: random.Random) -> str:
    targets = [other for other in (2 * page + 1, 2 * page + 2) if other < pages]
    targets += [chance.randrange(pages) for _ in range(LINKS - 2 - len(targets))]
    links = [f'<li><a class="nav" href="{url(target)}#part">to page {target} &amp; back</a></li>' for target in targets]
    links += ['<li><a href="/private/page.html">not for you</a></li>', '<li><a href="mailto:keeper@example.org">write</a></li>']
    size = chance.randrange(20_000, 60_000)
    head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Page {page}</title><style>p {{ margin: 0 }}</style></head>'
    parts, length = [], 0
    while length < size - 70 * 80:
        text = f'<p class="t{chance.randrange(9)}">{" ".join(chance.choices(WORDS, k=60))} <b>{page}</b>.</p>\n'
        parts.append(text)
        length += len(text)
    script = "<script>if (1 < 2) { document.title += '<a href=/never>'; }</script>"
    return f"{head}<body><nav><ul>{''.join(links)}</ul></nav><main>{''.join(parts)}</main>{script}</body></html>\n"


def url(page: int) -> str:
    return "/" if page == 0 else f"/{name(page)}"
