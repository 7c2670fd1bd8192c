"""Make gitmem/relevance/background.py: how common English words are, in half steps.

Run by hand, with `pip install zxcvbn==4.5.0` (MIT) in the environment: its lists rank words by how often they stand in
Wikipedia and in the scripts of films and television. A rank is turned into a frequency by one straight line, as Zipf
found it. The package keeps each word in one list only; first names, surnames and the everyday words below, which it
files under passwords, count as fairly common. Nothing else of the package goes into the product, and nothing of the
evaluation sets.
"""

import math
import textwrap
from pathlib import Path

from zxcvbn.frequency_lists import FREQUENCY_LISTS

from gitmem.relevance.stem import stem

LEAST = 4.5
FAIRLY_COMMON = 1500
EVERYDAY = (
    "access action add animal app apple april arm august awesome bag ball bank beach bear beautiful beauty beer "
    "bill bird black blue boston brain bright brown bus canada cancer captain cash cat chance change chicago "
    "chicken chris christian church city classic coffee computer control cook country creative cross dance david "
    "december desire diamond digital doctor dog door dragon dream driver dry eagle electric enter express extreme "
    "family fan fat february fields fire fish fit flower fly football forest forever free freedom friday friend "
    "fun game garden gas girl glass gold golden google grant green guitar hall happy heart hello help hill "
    "holiday home hope horse hot house hunter internet january july june justice key king kitchen lady leg lights "
    "link london love lovely lucky machine magic map march marine market master member merlin mexico mike miller "
    "minor mix monday money monkey month moon mother mountain music nature network november number ocean october "
    "office oil online orange page paper party pass password peace people phone photo picture planet player "
    "police power price prince princess private queen rain rainbow red river rock rose sad school secret security "
    "september service shadow silver simple single sister sky smart smile smoke snow soccer software special "
    "spirit sport spring star stone storm strike strong success sugar summer sun sunday sunshine super system "
    "target teacher team test tiger time travel trouble truck tuesday turtle victory video vision wall water "
    "weather web week welcome west white window winner winter wolf wood work world yellow young "
)
LEFT_OUT = {"shit", "fuck", "damn"}
LISTS = (
    ("english_wikipedia", 30_000, None),
    ("us_tv_and_film", 20_000, None),
    ("male_names", 200, FAIRLY_COMMON),
    ("female_names", 200, FAIRLY_COMMON),
    ("surnames", 200, FAIRLY_COMMON),
)


def main() -> None:
    ranks: dict[str, int] = {}
    for name, most, fixed in LISTS:
        for rank, word in enumerate(list(FREQUENCY_LISTS[name])[:most], 1):
            if word.isascii() and word.isalpha() and len(word) > 2 and word not in LEFT_OUT:
                ranks[word] = min(ranks.get(word, fixed or rank), fixed or rank)
    for word in EVERYDAY.split():
        ranks[word] = min(ranks.get(word, FAIRLY_COMMON), FAIRLY_COMMON)
    steps: dict[str, float] = {}
    for word, rank in ranks.items():
        common = round(2 * (7.9 - 1.16 * math.log10(rank))) / 2
        if common >= LEAST:
            steps[stem(word)] = max(common, steps.get(stem(word), 0))
    place = Path(__file__).parents[2] / "gitmem/relevance/background.py"
    start = place.read_text().partition("_COMMON = {\n")[0] if place.exists() else ""
    lines = []
    for step in sorted(set(steps.values()), reverse=True):
        words = " ".join(sorted(form for form, common in steps.items() if common == step))
        lines += [f"    {step}: (", *(f'        "{line} "' for line in textwrap.wrap(words, 108)), "    ),"]
    place.write_text(f"{start}_COMMON = {{\n" + "\n".join(lines) + "\n}\n" + TAIL)


TAIL = '''
_WEIGHTS = {form: max(LEAST_WEIGHT, _SCALE - step) for step, forms in _COMMON.items() for form in forms.split()}


def weigh(form: str) -> float:
    """Return what a word, stemmed and in small letters, weighs: from 0.3 for the commonest to 5 for an uncommon one."""
    return _WEIGHTS.get(form, UNCOMMON_WEIGHT)
'''

if __name__ == "__main__":
    main()
