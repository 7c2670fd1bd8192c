"""A process that holds vaults open: answers each line on standard input, a JSON list of a verb and its arguments."""

from __future__ import annotations

import json
import os
import sys

from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.vault import Options
from gitmem.wiring import open_memory

WORDS = ("heron", "common", "word3", "word7", "cache-ttl")


def tell(memory: Memory) -> list[object]:
    """Return what the memory answers to a handful of questions, as plain values, and whether it is degraded."""
    found = [memory.search(word, Filters()) for word in WORDS]
    found += [memory.list(Filters()), memory.list(Filters(tags=("tool/t1",)))]
    answers: list[object] = [[hit.record.path for hit in answer.hits] for answer in found]
    answers += [[[hit.record.title, hit.snippet] for hit in answer.hits] for answer in found[:2]]
    problems = [[one.code, one.path] for one in found[0].diagnostics if one.code != "catalog-degraded"]
    return [*answers, problems]


def main() -> None:
    memories: dict[str, Memory] = {}
    for line in sys.stdin:
        verb, *args = json.loads(line)
        result: object = None
        if verb == "open":
            home, repo = args
            memories[repo] = open_memory(home, home, repo, Options(catalog_wait_s=0.05))
            result = tell(memories[repo])
        elif verb == "tell":
            result = tell(memories[args[0]])
        else:
            memories.pop(args[0]).close()
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)
