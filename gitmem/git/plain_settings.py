"""Git's configuration files in their plainest form, read without libgit2. Pure."""

from __future__ import annotations

from gitmem.patterns import late

_BLANK = late(rb"[ \t]*(?:[#;][^\\]*)?")
_SECTION = late(rb"\[([A-Za-z0-9-]{1,100})(?: \"([^\"\\\0]{1,200})\")?\][ \t]*")
# Nothing that is quoted, escaped, continued on the next line or followed by a comment: programs read these differently.
_SIGN = rb"[!$-:<-\[\]-~]"
_SETTING = late(rb"[ \t]*([A-Za-z][A-Za-z0-9-]{0,99})[ \t]*=[ \t]*(" + _SIGN + rb"(?:[ ]*" + _SIGN + rb")*)[ \t]*")


def parse_plain_settings(data: bytes) -> list[tuple[str, str]] | None:
    """Return ``(name, value)`` of each setting as libgit2 would, in order; ``None`` for what is not of a plain form.

    Names have their section in front, in small letters but for a quoted part: ``branch.Main.remote``.
    """
    found, section = [], ""
    for line in data.split(b"\n"):
        if _BLANK.fullmatch(line):
            continue
        if head := _SECTION.fullmatch(line):
            section = head[1].decode("ascii").lower()
            try:
                section += f".{head[2].decode()}" if head[2] is not None else ""
            except UnicodeDecodeError:
                return None
            continue
        setting = _SETTING.fullmatch(line)
        if setting is None or not section:
            return None
        found.append((f"{section}.{setting[1].decode('ascii').lower()}", setting[2].decode("ascii")))
    return found
