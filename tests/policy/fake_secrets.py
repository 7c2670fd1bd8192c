"""Made-up secrets and what only looks like one, in notes as people and agents write them. Seeded; nothing was valid."""

from __future__ import annotations

import base64
import random
import re
import string
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass

from secret_forms import LOOK_ALIKES, SECRETS, UNSEEN

ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "L": string.ascii_letters,
    "U": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "B": string.ascii_uppercase + "234567",
    "b": string.ascii_letters + string.digits + "-_",
    "S": string.ascii_letters + string.digits + "+/",
    "D": string.ascii_lowercase + string.digits + "!@#%^&*(-_=+)",
    "Z": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "h": "0123456789abcdef",
    "d": string.digits,
}
_NAMES = ("sam", "bob", "admin", "deploy", "ci-bot", "svc_app", "root", "lena")
_WORDS = (
    "winter",
    "dragon",
    "Falcon",
    "coffee",
    "Berlin",
    "monkey",
    "purple",
    "Summer",
    "rocket",
    "orange",
    "welcome",
    "panda",
)
_BIP39 = (
    *("abandon", "ability", "able", "about", "above", "absent", "absorb", "abstract", "absurd", "abuse", "access"),
    *("accident", "account", "accuse", "achieve", "acid", "acoustic", "acquire", "across", "act", "action", "actor"),
    *("actress", "actual", "adapt", "add", "addict", "address", "adjust", "admit", "adult", "advance", "advice"),
)
_FIELD = re.compile(r"«([A-Za-z])(\d*)»")
_NESTED = re.compile(r"«base64:((?:[^«»]|«[^«»]*»)*)»")

_AROUND = (
    "§",
    "We saw this on Monday.\n\n§\n\nand then moved on.",
    "---\ntitle: Deploy\nkind: procedure\ncreated: 2026-11-30T14:00:00Z\n---\n\n# Deploy\n\n§\n",
    "- run `make build`\n- §\n- tell the others",
    "```sh\n§\n```\n",
    "```yaml\n§\n```",
    "> §\n\nSo far what was said.",
    "部署说明。\n\n§\n\n完。",
    "1. First this.\n2. Then: §\n",
    "    §\n",
    "Text before\r\n§\r\nText after\r\n",
)
_HELD_OUT_AROUND = (
    "* [ ] todo: §",
    "> [!warning] Careful\n> §\n",
    "<details>\n\n§\n\n</details>",
    "备注：§\n",
    "~~~\n§\n~~~",
    "\t§",
)
_IN_A_LINE = ("It is §, I think.", "| setting | §  |", "Then (§) follows.", "说明：§。", "`§`", '"§"', "see § for it")


@dataclass(frozen=True)
class Sample:
    """One made-up note. ``kind`` names what is in it, ``first`` and ``last`` are its lines, from 1."""

    kind: str
    text: str
    fake: str
    first: int
    last: int


def make_secrets(seed: int, count: int, *, held_out: bool = False) -> list[Sample]:
    """Return ``count`` notes that each hold one made-up secret, kinds in turn. ``held_out`` takes other forms."""
    return list(_make(SECRETS, seed, count, held_out=held_out))


def make_unseen(seed: int, count: int) -> list[Sample]:
    """Return ``count`` notes that each hold a secret of a kind for which no rule was written."""
    return list(_make(UNSEEN, seed, count, held_out=False))


def make_look_alikes(seed: int, count: int, *, held_out: bool = False) -> list[Sample]:
    """Return ``count`` notes that each hold something that only looks like a secret, kinds in turn."""
    return list(_make(LOOK_ALIKES, seed, count, held_out=held_out))


def _make(forms: dict[str, tuple[str, ...]], seed: int, count: int, *, held_out: bool) -> Iterator[Sample]:
    rng = random.Random(seed)
    kinds = sorted(forms)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        all_forms = forms[kind]
        usual, others = all_forms[:-1] or all_forms, all_forms[-1:]
        fake = _fill(rng.choice(others if held_out else usual), rng)
        around = rng.choice(_HELD_OUT_AROUND if held_out else _AROUND)
        if "\n" not in fake and not fake.startswith("|") and not held_out and rng.random() < 0.3:
            around = around.replace("§", rng.choice(_IN_A_LINE), 1)
        yield _put(kind, fake, around)


def _put(kind: str, fake: str, around: str) -> Sample:
    before, _mark, after = around.partition("§")
    indent = before.rpartition("\n")[2]
    lead = indent if indent.strip() in ("", ">") else " " * (len(indent) if indent.startswith(("-", "*")) else 0)
    placed = fake.replace("\n", f"\n{lead}")
    first = before.count("\n") + 1
    return Sample(kind, f"{before}{placed}{after}", fake, first, first + placed.count("\n"))


def _fill(form: str, rng: random.Random) -> str:
    form = _NESTED.sub(lambda found: _encode(_fields(found[1], rng)), form)
    head, wrap, rest = form.partition(":")
    front, _blank, name = head.rpartition("=")
    if wrap and name in _WRAPS:
        return f"{front}{'=' if front else ''}{_WRAPS[name](_fields(rest, rng))}"
    return _fields(form, rng)


def _fields(form: str, rng: random.Random) -> str:
    return _FIELD.sub(lambda found: _draw(found[1], int(found[2] or 1), rng), form)


def _draw(kind: str, chars: int, rng: random.Random) -> str:
    def pick(count: int, alphabet: str) -> str:
        return "".join(rng.choice(alphabet) for _ in range(count))

    hexes = ALPHABETS["h"]
    if kind == "u":
        return f"{pick(8, hexes)}-{pick(4, hexes)}-4{pick(3, hexes)}-a{pick(3, hexes)}-{pick(12, hexes)}"
    if kind == "n":
        return rng.choice(_NAMES)
    if kind == "w":
        return " ".join(rng.choice(_BIP39) for _ in range(chars))
    if kind == "p":
        word = rng.choice(_WORDS)
        made = (
            f"{word}{pick(2, '0123456789')}!",
            f"{word}-{rng.choice(_WORDS)}-{pick(2, '23456789')}",
            f"{word.replace('o', '0').replace('e', '3')}{pick(3, '0123456789')}",
            pick(8, ALPHABETS["A"]) + pick(1, "0123456789") + pick(2, "!@#%^*"),
            pick(14, ALPHABETS["A"]) + pick(1, "23456789"),
            f"{word}@{pick(4, '0123456789')}",
        )
        return rng.choice(made)
    return pick(chars, ALPHABETS[kind])


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _quote(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def _insert(mark: str, text: str, at: int) -> str:
    return text[:at] + mark + text[at:]


_WRAPS = {
    "base64": _encode,
    "twice": lambda text: _encode(_encode(text)),
    "url": _quote,
    "zero": lambda text: _insert("\u200b", text, 6),
    "split": lambda text: _insert("\n", text, len(text) // 2),
}
