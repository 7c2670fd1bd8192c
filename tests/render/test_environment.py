from __future__ import annotations

import re

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.render.environment import Markdown, escape_inline, render_template

ESCAPES = [
    ("plain words, 中文 and émoji 🚀", "plain words, 中文 and émoji 🚀"),
    ("cache_ttl stays, __init__ does not", "cache_ttl stays, &#95;&#95;init&#95;&#95; does not"),
    ("[[Note|alias]] and ![[image.png]]", "&#91;&#91;Note&#124;alias&#93;&#93; and !&#91;&#91;image.png&#93;&#93;"),
    ("[text](https://example.com)", "&#91;text&#93;(https:&#47;/example.com)"),
    ("go to www.example.com", "go to www&#46;example.com"),
    ("ask anna@example.com first", "ask `anna@example.com` first"),
    ("#tag and C#", "&#35;tag and C&#35;"),
    ("<img src=x> <!-- --> &lt; R&D", "&#60;img src=x&#62; &#60;!-- --&#62; &#38;lt; R&D"),
    ("100 % of %%hidden%%", "100 % of %&#37;hidden%&#37;"),
    (
        "`code` $math$ ==mark== ~~gone~~ *b*",
        "&#96;code&#96; &#36;math&#36; =&#61;mark=&#61; ~&#126;gone~&#126; &#42;b&#42;",
    ),
    ("C:\\temp ^block", "C:&#92;temp &#94;block"),
    ("two\nlines\tand\u202ebidi", "two lines and&#92;u{202e}bidi"),
]


@pytest.mark.parametrize(("text", "escaped"), ESCAPES)
def test_escape_inline_shows_text_and_nothing_else(text: str, escaped: str) -> None:
    assert escape_inline(text) == escaped


@settings(derandomize=True, max_examples=200)
@given(st.text(alphabet="[]|#`<>&%$~=^*_\\!-: \n/.@wab1中\u200b\u202e", max_size=40))
def test_escape_inline_leaves_nothing_active(text: str) -> None:
    escaped = escape_inline(text)
    without_addresses = re.sub(r"`[\w.+-]+@[\w.-]+`", "", escaped)
    assert not re.search(r"[\[\]|<>`$^*\\]|%%|==|~~|://|\bwww\.|(?<!&)#|\n", without_addresses)


def test_a_template_escapes_what_it_is_given_and_prints_markdown_as_it_is() -> None:
    class Section:
        heading = "#Boundaries"
        lines = (Markdown("[[a|b]]"), "[[c|d]]")
        more_in = ""

    page = render_template("INDEX.md.j2", sections=[Section])
    assert "## &#35;Boundaries\n\n- [[a|b]]\n- &#91;&#91;c&#124;d&#93;&#93;\n\n---\n" in page


def test_a_value_that_a_template_lacks_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="sections"):
        render_template("INDEX.md.j2")


def test_an_emoji_selector_behind_an_entity_is_shown() -> None:
    assert escape_inline("<\ufe0f \u2764\ufe0f") == "&#60;\\u{fe0f} \u2764\ufe0f"
