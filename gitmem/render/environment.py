"""The Jinja environment, in which every printed value is escaped unless it was made safe on purpose.

Records are data: no text of theirs is ever a template, and none reaches a page unescaped.
"""

from __future__ import annotations

import functools
import re

from gitmem.patterns import late
from gitmem.resources import read_text
from gitmem.text import make_visible, one_line
from gitmem.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

_SPECIAL = late(
    r"""
    (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)      # forges link addresses even where the @ is escaped
    | (?<=:)/(?=/)                               # the first slash of a scheme: bare URLs become links
    | (?<=\bwww)\.
    | [\\`*\[\]<>\#|$^]
    | &(?=\#?\w+;)
    | (?<=%)% | (?<==)= | (?<=~)~                # the second half of %%, == and ~~
    | (?<![^\W_])_ | _(?![^\W_])                 # snake_case is plain text everywhere; _this_ is not
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


class Markdown(str):
    """Text that is Markdown already: a template prints it as it is."""

    __slots__ = ()


def escape_inline(text: str) -> Markdown:
    """Return ``text`` as one line of Markdown that shows it and does nothing else, in Obsidian and on Git forges.

    It can't make a link, embed, tag, comment, formula, block id or HTML, nor close what stands around it, a wikilink
    included. Hidden characters are shown as escapes. Entities are used rather than backslashes, because Obsidian
    takes the tag in an escaped ``\\[\\[#tag`` for one; an e-mail address is shown as code.
    """
    # Again at the end: an emoji selector behind a < is hidden once that is an entity.
    return Markdown(make_visible(_SPECIAL.sub(_escape_match, one_line(make_visible(text)))))


def render_template(name: str, **values: Any) -> str:
    """Return the shipped template ``name`` filled with ``values``.

    Strings are escaped with ``escape_inline`` unless they are ``Markdown``. A name that the template uses and
    ``values`` lacks raises ``jinja2.UndefinedError``.
    """
    return _environment().get_template(name).render(values)


def _escape_match(match: re.Match[str]) -> str:
    found = match.group()
    return f"`{found}`" if match["email"] else f"&#{ord(found)};"


def _finalize(value: Any) -> Any:
    return escape_inline(value) if isinstance(value, str) and not isinstance(value, Markdown) else value


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2  # here, because most operations write a catalog line only and need no template

    return jinja2.Environment(  # noqa: S701 - autoescape is for HTML; _finalize escapes for Markdown
        loader=jinja2.FunctionLoader(functools.partial(read_text, "templates")),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
