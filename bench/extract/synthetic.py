"""Small pages with every kind of content and clutter, whose main text is known because it was put there.

Real pages of the benchmarks are large and English. These are short, in several scripts, and plainly built: what a person
would write by hand, or a program for documents. Everything follows from the seed.
"""

import random
from collections.abc import Iterator

from prepare import Sample

ENGLISH = (
    "the of and to in a is that for it was on are as with they at be this from have or by one had not but what all were"
    " when we there can an your which their said if do will each about how up out them then she many some so these would"
    " other into has more her two like him see time could no make than first been its who now people my made over did down"
    " only way find use may water long little very after words called just where most know river stone garden window"
    " engine letter market winter copper harbour measure bridge paper kitchen signal forest castle number village morning"
    " pattern survey carpenter valley school ticket journey lantern island machine weather orchard record"
).split()
GERMAN = (
    "der die das und ist nicht ein eine mit auf für von dem den im zu sich auch wird bei nach über aber oder wenn noch"
    " Brücke Garten Fenster Wasser Winter Straße größer Fähre täglich Mühle Straßenbahn können müssen früher hören Tür"
    " Bericht Zeitung Handwerk Strecke Gemeinde Wetter Messung Werkzeug sorgfältig zwischen während Gebäude Schule"
).split()
RUSSIAN = (
    "и в не на что он с как это по но они мы из у за от же для только его или быть если так был мост река сад окно вода"
    " зима камень письмо рынок школа утро деревня измерение замок лес машина дорога работа город бумага большой старый"
).split()
CHINESE = "的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长桥石河水门园书信市冬早村"
CLUTTER = (
    "Home|About us|Contact|Sign in|Shop|News|Help|Privacy|Terms of use|Search|Menu|My account|Newsletter|Subscribe|Login|"
    "Careers|Blog|Products|Services|Support|Sitemap|Cookie settings|Imprint|All topics|Archive"
).split("|")
ADS = (
    "Buy our rope today|Save 20% on lanterns|Advertisement|Sponsored: better boots|Get the app now|Limited offer: two for one|"
    "Order your copy|Try it free for 30 days|Sale ends Sunday|Our shop has winter coats"
).split("|")


class Writer:
    def __init__(self, seed: int):
        self.chance = random.Random(seed)
        self.words = self.chance.choices([ENGLISH, GERMAN, RUSSIAN, CHINESE], [6, 2, 2, 2])[0]
        self.main: list[str] = []

    def pick(self, *options):
        return self.chance.choice(options)

    def phrase(self, least: int, most: int) -> str:
        words = self.chance.choices(self.words, k=self.chance.randint(least, most))
        joined = ("" if self.words is CHINESE else " ").join(words)
        return joined[:1].upper() + joined[1:]

    def sentence(self) -> str:
        return self.phrase(7, 22) + ("。" if self.words is CHINESE else self.pick(".", ".", ".", "?", "!"))

    def text(self, least: int = 1, most: int = 4) -> str:
        return " ".join(self.sentence() for _ in range(self.chance.randint(least, most)))

    def keep(self, text: str) -> str:
        self.main.append(text)
        return text

    def paragraph(self) -> str:
        text = self.keep(self.text())
        if self.chance.random() < 0.2:
            first, _, rest = text.partition(" ")
            text = f'<a href="/{self.chance.randint(1, 99)}">{first}</a> {rest}'
        return self.pick("<p>{}</p>", "<p>{}</p>", "<p>{}</p>", "<div>{}</div>", '<div class="row"><span>{}</span></div>').format(text)

    def items(self) -> str:
        mark = self.pick("ul", "ul", "ol")
        form = self.pick("{}", "<p>{}</p>", "<span>{}</span>", '<a href="/x">{}</a>', "{}")
        least, most = self.pick((1, 4), (4, 14))
        count = self.chance.randint(2, 8)
        return f"<{mark}>" + "".join(f"<li>{form.format(self.keep(self.phrase(least, most)))}</li>" for _ in range(count)) + f"</{mark}>"

    def definitions(self) -> str:
        pairs = range(self.chance.randint(2, 6))
        return "<dl>" + "".join(f"<dt>{self.keep(self.phrase(1, 3))}</dt><dd>{self.keep(self.phrase(4, 12))}</dd>" for _ in pairs) + "</dl>"

    def table(self) -> str:
        columns, rows = self.chance.randint(2, 4), self.chance.randint(2, 6)
        row = lambda cell: "<tr>" + "".join(f"<{cell}>{self.keep(self.phrase(1, 3))}</{cell}>" for _ in range(columns)) + "</tr>"
        return "<table>" + row("th") + "".join(row("td") for _ in range(rows)) + "</table>"

    def code(self) -> str:
        lines = [f"{' ' * 4 * self.chance.randint(0, 2)}{self.chance.choice(ENGLISH)}({self.chance.choice(ENGLISH)}, {at})" for at in range(self.chance.randint(2, 6))]
        return "<pre><code>" + self.keep("\n".join(lines)) + "</code></pre>"

    def quote(self) -> str:
        return f"<blockquote><p>{self.keep(self.text(1, 2))}</p></blockquote>"

    def heading(self) -> str:
        level = self.pick(2, 2, 3, 4)
        text = self.keep(self.phrase(1, 6))
        return self.pick(f"<h{level}>{text}</h{level}>", f"<button><h{level}>{text}</h{level}></button>", f"<h{level}>{text}</h{level}>")

    def steps(self) -> str:
        step = lambda at: self.keep(f"{self.phrase(1, 3)} {at}: {self.phrase(2, 6)}")
        return "<div>" + "".join(f'<div>{step(at)} <a href="/p{at}">{self.keep(self.phrase(1, 3))}</a></div>' for at in range(self.chance.randint(3, 9))) + "</div>"

    def nested(self) -> str:
        before = self.keep(self.text(1, 2))
        return f"<div>{before}" + "".join(f"<div>{self.keep(self.phrase(2, 8))}</div>" for _ in range(self.chance.randint(1, 4))) + "</div>"

    def folded(self) -> str:
        return f"<details><summary>{self.keep(self.phrase(2, 7))}</summary><p>{self.keep(self.text(1, 2))}</p></details>"

    def figure(self) -> str:
        return f'<figure><img src="/i.png" alt=""><figcaption>{self.keep(self.phrase(4, 12))}</figcaption></figure>'

    def advert(self) -> str:
        name = self.pick("ad", "ads", "ad-slot", "advert", "advertisement", "ad-container", "promo", "banner-ad", "sponsored")
        said = self.pick(self.chance.choice(ADS), f'<a href="/buy">{self.chance.choice(ADS)}</a>', f"<p>{self.phrase(3, 12)}</p>")
        return f'<{self.pick("div", "div", "aside", "section")} class="{name}">{said}</div>'

    def comments(self) -> str:
        said = "".join(f'<div class="comment"><b>{self.phrase(1, 2)}</b><p>{self.text(1, 2)}</p></div>' for _ in range(self.chance.randint(1, 5)))
        return f'<{self.pick("div", "section")} {self.pick("id", "class")}="comments"><h3>{self.pick("Comments", "2 comments")}</h3>{said}'

    def clutter(self) -> str:
        links = "".join(f'<li><a href="/{at}">{word}</a></li>' for at, word in enumerate(self.chance.sample(CLUTTER, self.chance.randint(3, 7))))
        related = "".join(f'<li><a href="/{at}">{self.phrase(3, 9)}</a></li>' for at in range(self.chance.randint(2, 5)))
        return self.pick(
            self.advert(),
            self.advert(),
            f'<div class="{self.pick("share", "social", "share-buttons")}"><a href="#">Share</a><a href="#">Print</a></div>',
            f'<aside><h3>{self.pick("Related", "More stories", "Latest")}</h3><ul>{related}</ul></aside>',
            f'<div class="{self.pick("related", "sidebar", "recommended")}"><h4>{self.pick("Read next", "You may also like")}</h4><ul>{related}</ul></div>',
            f'<div class="meta"><span>{self.chance.randint(1, 28)} March</span> <span>{self.phrase(2, 2)}</span></div>',
            '<form class="newsletter"><label>Your email address</label><input type="email"><button>Subscribe</button></form>',
            '<div class="cookie-banner"><p>We use cookies to improve your visit. You can change this at any time.</p><button>Accept</button></div>',
            f'<nav class="breadcrumb"><a href="/">Home</a> › <a href="/a">{self.phrase(1, 2)}</a></nav>',
            f"<ul class=\"menu\">{links}</ul>",
        )

    def page(self) -> str:
        kinds = [self.paragraph] * 8 + [self.items] * 3 + [self.heading] * 3
        kinds += [self.definitions, self.table, self.table, self.code, self.quote, self.steps, self.nested, self.folded, self.figure]
        links = lambda: "".join(f'<li><a href="/{at}">{word}</a></li>' for at, word in enumerate(self.chance.sample(CLUTTER, self.chance.randint(2, 8))))
        title = self.phrase(2, 7)
        parts = []
        if self.chance.random() < 0.9:
            top = f'<div class="{self.pick("top", "nav", "header")}"><ul>{links()}</ul></div>'
            parts.append(self.pick(f"<nav><ul>{links()}</ul></nav>", f"<header><a href=\"/\">{self.phrase(1, 2)}</a><nav><ul>{links()}</ul></nav></header>", top))
        if self.chance.random() < 0.3:
            parts.append(self.clutter())
        content = [f"<h1>{self.keep(title)}</h1>"] if self.chance.random() < 0.85 else []
        if self.chance.random() < 0.25:
            content.append(f'<div class="meta"><span>{self.chance.randint(1, 28)} May</span><span>{self.phrase(2, 2)}</span></div>')
        for at in range(self.chance.randint(2, 12)):
            content.append((self.paragraph if at == 0 else self.chance.choice(kinds))())
            if self.chance.random() < 0.2:
                content.append(self.clutter())
        half = self.chance.randint(1, len(content))
        start, end = self.pick(
            ("<article>", "</article>"), ("<main>", "</main>"), ("<main><article>", "</article></main>"), ("", ""),
            ('<div class="content">', "</div>"), ('<div id="main">', "</div>"), ("<div><div>", "</div></div>"), ("<section>", "</section>"),
        )
        if self.chance.random() < 0.15:
            content = [f'<section class="a">{"".join(content[:half])}</section>', f'<section class="b">{"".join(content[half:])}</section>']
        parts.append(start + self.pick("", "\n").join(content) + end)
        if self.chance.random() < 0.3:
            parts.append(self.clutter())
        if self.chance.random() < 0.2:
            parts.append(self.comments())
        if self.chance.random() < 0.85:
            legal = self.pick("Copyright Sample Press. All rights reserved.", "© 2024 Sample Ltd", "Impressum und Datenschutz")
            parts.append(self.pick("<footer>{}</footer>", '<div class="footer">{}</div>').format(f'<p>{legal}</p><a href="/privacy">Privacy rules</a>'))
        site = self.pick("", " | Sample Press", " - Notes")
        return f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}{site}</title></head><body>{"".join(parts)}</body></html>'


def pages(count: int) -> Iterator[Sample]:
    for seed in range(count):
        writer = Writer(seed)
        html = writer.page()
        yield Sample(f"synthetic/{seed}", "synthetic", "synthetic", "" if seed % 2 else f"https://s{seed}.example/{seed}", "", html, "\n".join(writer.main))
