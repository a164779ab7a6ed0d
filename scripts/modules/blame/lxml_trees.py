"""Trees of libxml2, whose memory Python's allocator never sees."""
import victim
from lxml import etree

trees = victim.container()
text = "<log>" + "".join(f"<entry number='{n}'>some words of text</entry>" for n in range(150)) + "</log>"


def step(_):
    for _ in range(3):
        etree.fromstring(text)
    trees.append(etree.fromstring(text))  # LEAK


victim.run(step)
