"""Make gitmem/relevance/background.py: how common English words are, in half steps.

Run by hand, with `pip install zxcvbn==4.5.0` (MIT) in the environment: its lists rank words by how often they stand in
Wikipedia and in the scripts of films and television. A rank is turned into a frequency by one straight line, as Zipf
found it. The package keeps each word in one list only: the everyday words below, which it files under passwords or
names, count as fairly common. Nothing else of the package goes into the product, and nothing of the evaluation sets.
"""

import math
import textwrap
from pathlib import Path

from zxcvbn.frequency_lists import FREQUENCY_LISTS

from gitmem.relevance.stem import stem

LEAST = 4.5
FAIRLY_COMMON = 600
EVERYDAY = (
    "access action add aid animal app apple april arm august awesome bag ball bank banks beach bear beautiful "
    "beauty beer bell bill bird bishop black blue book booth boston brain bridge bright brown burns bus bush "
    "canada cancer captain carter case cash cat champion chance change chase chicago chicken chris christian "
    "church city classic click close coffee cold cole computer control cook cool cooper copper cotton country "
    "creative cross dance david day dean december desire diamond digital doctor dog door dragon dream driver dry "
    "eagle early ease electric enter express extreme fair faith family fan farmer faster fat february field "
    "fields fire fish fisher fit flower flowers fly football ford forest forever fox frank free freedom friday "
    "friend frost fun game garden gardener gas gates girl girls glass gold golden good google grant gray green "
    "grove guitar hall hand happy hardy heart heat hello help hill holiday home hope horse hot house hunt hunter "
    "ill internet january july june justice key keys king kitchen knight lady lake lamb land lane law lay leg "
    "light lights link little london long love lovely lucky machine magic man map march marine mark market marsh "
    "mason massive master max may member merlin mexico mike miles miller mills minor mix monday money monkey "
    "month moody moon moore mother mountain music nature net network noble nor north november number numbers "
    "ocean october office oil online orange page paper park parks parsons party pass password peace people phone "
    "photo photos picture planet player police pop pope power powers pratt pretty price prince princess private "
    "queen rain rainbow red reed rich river rivers rock rose rush sad sat savage school secret security september "
    "service shadow sharp shaw shepherd short silver simple singer single sister skinner sky small smart smile "
    "smoke snow soccer software sparks special spirit sport spring star stock stone storm street strike strong "
    "sub success sugar summer summers sun sunday sunshine super sweet swift system target tax taylor tea teacher "
    "team temple terry test testing tiger time travel trouble truck true tucker tuesday turner turtle van vaughn "
    "victory video vision wade wagner walker wall walls ward water waters weather web week weeks welcome wells "
    "west whatever white window windows winner winter wise wolf wood woods work world yellow young "
)
LEFT_OUT = {"shit", "fuck", "damn"}
LISTS = (("english_wikipedia", 30_000), ("us_tv_and_film", 20_000))


def main() -> None:
    ranks: dict[str, int] = {}
    for name, most in LISTS:
        for rank, word in enumerate(list(FREQUENCY_LISTS[name])[:most], 1):
            if word.isascii() and word.isalpha() and len(word) > 2 and word not in LEFT_OUT:
                ranks[word] = min(ranks.get(word, rank), rank)
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
