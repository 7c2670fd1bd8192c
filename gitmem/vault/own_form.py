"""A quick way to read the records that gitmem wrote and nobody changed the form of; a first catalog reads thousands.

One expression takes the whole block: gitmem's own properties, in its order and style, with values that fit. It answers
only for these, and then exactly as ``record_file`` would; for all else it returns ``None``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from gitmem.errors import InputError
from gitmem.model.authority import Authority
from gitmem.model.ids import ALPHABET, ID_CHARS, fingerprint
from gitmem.model.record import MAX_KEY_CHARS, MAX_SUMMARY_CHARS, MAX_TITLE_CHARS, Kind, Record, State
from gitmem.model.vault_path import VaultPath
from gitmem.typed import Any
from gitmem.vault.markdown import find_tags, parse_tag, unique_tags
from gitmem.vault.yaml_fast import MAY_NOT_BE_ITSELF, ODD, REST, VALUE, resolve

_MAX_BLOCK_CHARS = 8192
# A number holds none of the letters of the first group: it needs `x`, `e` and `a` to `f` at most.
_ID = rf"(?=[0-9a-z]*[g-wyz])[{ALPHABET}]{{{ID_CHARS}}}|\"[{ALPHABET}]{{{ID_CHARS}}}\""
_NO_WORD = r"(?!(?:[nN]ull|NULL|[tT]rue|TRUE|[fF]alse|FALSE)\n)"
_NAME = rf"{_NO_WORD}[A-Za-z][A-Za-z0-9_.-]*+"
_DAY = (  # 29 February is left to the exact reader
    r"(?!0000)[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_DATE = rf"{_DAY}(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?+"
_FORMS = {
    "gitmem_id": _ID,
    "title": VALUE,
    "kind": "|".join(Kind),
    "summary": VALUE,
    "authority": "|".join(Authority),
    "tags": rf"(?:\n  - {_NO_WORD}[^\W\d_](?:[\w/-]*\w)?)++",
    "key": rf"{_NAME}",
    "created": _DATE,
    "updated": _DATE,
    "source": rf"{_NAME}(?:/[A-Za-z0-9_./-]++)?+",
    "evidence": rf"(?:\n  - (?:commit|file|run|url):[^{ODD} :#]{REST})++",
    "verified": _DATE,
    "valid_from": _DATE,
    "valid_until": _DATE,
    "review_after": _DATE,
}
_LISTS = ("tags", "evidence")


def _format_line(name: str, form: str) -> str:
    line = rf"{name}:{'' if name in _LISTS else ' '}({form})\n"
    return line if name in ("gitmem_id", "title") else f"(?:{line})?+"


@functools.cache
def _block_form() -> re.Pattern[str]:
    return re.compile(rf"---\n{''.join(_format_line(name, form) for name, form in _FORMS.items())}---\n")


_KINDS = {kind.value: kind for kind in Kind}
_AUTHORITIES = {authority.value: authority for authority in Authority}
_LINES = (("title", MAX_TITLE_CHARS), ("summary", MAX_SUMMARY_CHARS))
_ITEM = "\n  - "


def parse_own_record(path: VaultPath, state: State, data: bytes, text: str) -> Record | None:
    """Return the record in the file ``path`` if its block is as gitmem writes it, else ``None``.

    ``text`` is that of ``data``, without conflict markers.
    """
    block = _block_form().match(text)
    if block is None or block.end() > _MAX_BLOCK_CHARS:
        return None
    properties: dict[str, Any] = {name: value for name, value in zip(_FORMS, block.groups(), strict=True) if value}
    properties["gitmem_id"] = properties["gitmem_id"].strip('"')
    values = _read_values(properties)
    if values is None:
        return None
    body = text[block.end() :]
    values.update(
        id=values.pop("gitmem_id"), path=path, state=state, body=body, fingerprint=fingerprint(data),
        properties=properties,
    )  # fmt: skip
    if inline_tags := find_tags(body):
        values["inline_tags"] = without_known(inline_tags, values.get("tags", ()))
    return _make_record(values)


def without_known(inline_tags: Iterable[str], tags: Iterable[str]) -> tuple[str, ...]:
    """Return ``inline_tags`` without those that are among ``tags``, case aside."""
    known = {tag.casefold() for tag in tags}
    return tuple(tag for tag in inline_tags if tag.casefold() not in known)


def _read_values(properties: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a record; put what YAML reads into ``properties``. ``None`` where one misfits."""
    for name, max_chars in _LINES:
        text = properties.get(name)
        if text is None:
            continue
        if text[0] in MAY_NOT_BE_ITSELF:
            text = properties[name] = _resolve(text)
        if not isinstance(text, str) or not 0 < len(text) <= max_chars or not text.strip():
            return None
    if len(properties.get("key", "")) > MAX_KEY_CHARS:
        return None
    values = properties.copy()
    if "kind" in values:
        values["kind"] = _KINDS[values["kind"]]
    if "authority" in values:
        values["authority"] = _AUTHORITIES[values["authority"]]
    if "tags" in values:
        tags = values["tags"] = _split_tags(values["tags"])
        properties["tags"] = list(tags)
        if not tags:
            return None
    if "evidence" in values:
        items = properties["evidence"] = values["evidence"].split(_ITEM)[1:]
        values["evidence"] = tuple(items)
    return values


def _resolve(text: str) -> Any:
    try:
        return resolve(text)
    except InputError:
        return None


@functools.lru_cache(maxsize=4096)
def _split_tags(lines: str) -> tuple[str, ...]:
    """Return the tags in ``lines``, empty where they aren't all different tags and written as they are read."""
    tags = tuple(lines.split(_ITEM)[1:])
    return tags if unique_tags(tag for tag in map(parse_tag, tags) if tag) == tags else ()


def _make_record(values: dict[str, Any]) -> Record:
    # The constructor of a frozen class sets its 26 fields one by one, a twentieth of what reading a record takes; what
    # is not set here is found in the class, as the default.
    record = object.__new__(Record)
    record.__dict__.update(values)
    return record
