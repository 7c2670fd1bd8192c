import datetime
from typing import Any

import pytest

from gitmem.model.ids import Fingerprint, RecordId
from gitmem.model.record import Record, State
from gitmem.model.validity import find_marks
from gitmem.model.vault_path import VaultPath

TODAY = datetime.date(2026, 11, 30)


@pytest.mark.parametrize(
    ("properties", "marks"),
    [
        ({}, []),
        ({"valid_until": "2026-11-30", "valid_from": "2026-11-30", "review_after": "2026-12-01"}, []),
        ({"valid_until": "2026-11-29"}, [("out-of-date", "out of date since 2026-11-29")]),
        ({"valid_until": "2026-05-01T12:00:00Z"}, [("out-of-date", "out of date since 2026-05-01")]),
        ({"valid_from": "2026-12-01"}, [("not-yet-valid", "not valid before 2026-12-01")]),
        ({"review_after": "2026-11-30"}, [("review-due", "review due")]),
        ({"superseded_by": ("[[newer]]",)}, [("superseded", "superseded")]),
        ({"valid_until": "2026-02-31", "review_after": "soon"}, []),
        (
            {"review_after": "2020-01-01", "valid_until": "2020-01-01", "superseded_by": ("[[newer]]",)},
            [
                ("out-of-date", "out of date since 2020-01-01"),
                ("superseded", "superseded"),
                ("review-due", "review due"),
            ],
        ),
    ],
)
def test_what_is_to_be_minded_is_said(properties: dict[str, Any], marks: list[tuple[str, str]]) -> None:
    path, print_ = VaultPath("promoted/a.md"), Fingerprint("0" * 40)
    record = Record(RecordId("m7k2q9x4c0de"), path, State.PROMOTED, "A", "", print_, **properties)
    assert [tuple(mark) for mark in find_marks(record, TODAY)] == marks
