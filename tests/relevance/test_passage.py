"""The best passage of a text."""

from gitmem.relevance.passage import PASSAGE_WORDS, Question

FILLER = " ".join(["word"] * PASSAGE_WORDS)


def test_what_stands_together_counts_together() -> None:
    question = Question({"cach": 3.0, "redi": 5.0}, [("cach", "redi")])

    near = question.measure("", f"{FILLER} The cache lives in Redis. {FILLER}")
    apart = question.measure("", f"The cache. {FILLER} {FILLER} In Redis.")

    assert (near.passage, apart.passage) == (8.0, 5.0)
    assert near.forms == apart.forms == {"cach", "redi"}


def test_what_a_record_is_called_is_near_all_of_its_text() -> None:
    question = Question({"cach": 3.0, "redi": 5.0}, [])

    assert question.measure("Cache", f"{FILLER} {FILLER} Redis").passage == 8.0


def test_neighbours_count_as_a_share_of_the_pairs_of_the_question() -> None:
    question = Question({"read": 1.0, "timeout": 2.0, "pool": 3.0}, [("read", "timeout"), ("timeout", "pool")])

    assert question.measure("", "read timeouts, and much later another pool").near == 0.5


def test_identifiers_count_whole_and_in_parts() -> None:
    question = Question({"diffexecutor": 5.0, "executor": 2.0, "ttl": 1.0}, [])

    assert question.measure("", "fn make(DiffExecutor) with cache_ttl").passage == 8.0


def test_chinese_counts_in_pairs_of_characters() -> None:
    question = Question({"缓存": 4.0, "失效": 3.0, "退款": 2.0}, [])

    assert question.measure("", "订单缓存十分钟后失效").passage == 7.0
    assert question.measure("", "缓存" + "无" * (2 * PASSAGE_WORDS) + "失效").passage == 4.0


def test_a_text_is_measured_the_same_whatever_came_before() -> None:
    question = Question({"cach": 3.0}, [])
    first = question.measure("", "Caching caches the cache")

    question.measure("", "other words")

    assert question.measure("", "Caching caches the cache") == first
