"""A memory that could not be read as it should, said in one line of words that holds nothing of it. Pure."""

from __future__ import annotations

from gitmem.model.answer import Status

_WORDS = {
    Status.DEGRADED: "it could not be read as well as usual, and something may be missing here",
    Status.WITHHELD: "what is remembered could not be checked, so none of it is shown",
    Status.UNAVAILABLE: "it could not be read; that says nothing about what is remembered",
}
_REASONS = {
    "boundaries-do-not-fit": "the boundaries don't fit, and none is left out; a person has to see to it",
    "context-does-not-fit": "there is too little room to show anything",
    "vault-missing": "the vault is not where it was; that says nothing about what is remembered",
    "registry-missing": "the registry of its vaults is gone; that says nothing about what is remembered",
    "global-unreadable": "the global vault can't be read, and what it remembers is missing here",
    "home-in-project": "a variable names a home of the project's own or a relative one, which is not read",
    "no-vault": "there is no vault here",
    "too-slow": "it took longer than a session can wait, and a person's `gitmem catalog rebuild` may help; that says"
    " nothing about what is remembered",
    "scanner-failed": "the secret scanner failed, so nothing is shown; that says nothing about what is remembered",
}


def render_status(status: Status, code: str = "") -> str:
    """Return the line for ``degraded``, ``withheld`` and ``unavailable``; empty for the others.

    ``code`` is that of the error or problem, which the line names; no path, title or message stands in it.
    """
    if status not in _WORDS:
        return ""
    cause = f" ({code})" if code else ""
    return f"gitmem: memory is {status.value}{cause}: {_REASONS.get(code, _WORDS[status])}."
