"""Words too common to search by: they are dropped from a question unless nothing else is left of it.

Short on purpose: a word that may carry the subject of a developer's note was left out of the lists rather than in;
inverse document frequency takes care of the rest.
"""

from __future__ import annotations


def _split(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


ENGLISH = _split(
    "a about all also am an and any are as at be because been being but by can could did do does doing done for from",
    "get got had has have having he her here him his how i if in into is it its just let like made make many may me",
    "might more most much must my need no nor not now of off on one only or other our out over own please same she",
    "should so some such than that the their them then there these they this those through to too us very want was we",
    "were what when where which while who whom whose why will with would you your",
    # What is left of don't, it's, you're and their like.
    "aren couldn d didn doesn don hadn hasn haven isn ll m re s shouldn t ve wasn weren won wouldn",
)

CHINESE_WORDS = _split(
    "一个 一下 一些 什么 他们 以及 但是 你们 其中 关于 可以 哪个 哪些 哪里 因为 多少 如何 如果 它们 应该 怎么 怎样",
    "我们 或者 所以 时候 是否 有没 没有 现在 的话 能否 能够 请问 这个 这些 这样 那个 那些 还是 通过 需要",
)
"""Words of two characters, as pairs of neighbours meet them."""

CHINESE_CHARACTERS = frozenset("的了吗呢吧么啊呀嘛着地得和与及或在是把被给让对从到也都就还")
"""Function characters: a pair with one of them joins two words more often than it is one."""

INSTRUCTIONS = _split(
    "add advise answer ask assist change check code complete continue convert create debug describe do edit explain",
    "figure find finish fix generate give go help here hi hello implement improve investigate know look need now ok",
    "okay optimize please propose question refactor remember remove rename review rewrite run see show simplify sort",
    "start step suggest summarize summarise support task tell test tests thank thanks think translate try understand",
    "update use used using verify want work write yes",
)
"""What prompts ask for rather than what they are about. Such a word still counts, but hardly."""

CHINESE_INSTRUCTIONS = _split(
    "请帮我 帮我 请你 请问 麻烦 谢谢 你好 我想 我要 我们 告诉我 给我 写一个 写一段 看一下 看看 解释一下 解释 修复 修改",
    "实现 添加 增加 优化 重构 检查 生成 总结 翻译 一下 怎么样 怎么 什么 为什么 如何 哪个 哪些 哪里 哪一",
    "是谁 多少 是否 可以 需要",
)
"""The same in Chinese, as the phrases that stand in prompts."""
