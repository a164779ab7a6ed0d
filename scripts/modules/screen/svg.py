"""A terminal's screen as a picture: text with ANSI colours to SVG."""

import re
from dataclasses import dataclass, replace
from html import escape
from unicodedata import east_asian_width

CELL = (8.4, 18)
MARGIN = 12
FONT = "'DejaVu Sans Mono','Menlo','Consolas','Liberation Mono',monospace"
BACKGROUND, FOREGROUND = "#16181d", "#d8dbe2"
# The sixteen named colours of a terminal, dark ones first.
NAMED = [
    "#16181d", "#e5626b", "#7fbf6a", "#e0b050", "#5b9ee8", "#c586d6", "#4fb9c4", "#c8ccd4",
    "#6b717d", "#ff7b85", "#98d982", "#f5c76a", "#7ab8ff", "#dba0ea", "#6fd6e0", "#f2f4f8",
]
STEPS = (0, 95, 135, 175, 215, 255)
SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\([AB0]|\x0f|\x0e")


@dataclass(frozen=True)
class Style:
    """How a character looks."""

    front: str = None
    back: str = None
    bold: bool = False
    dim: bool = False
    reverse: bool = False

    def colours(self):
        front, back = self.front or FOREGROUND, self.back or BACKGROUND
        return (back, front) if self.reverse else (front, back)


def picture(screen, title):
    """The SVG of a screen."""
    rows = [runs(line) for line in parsed(screen)]
    columns = max((sum(wide(text) for text, _ in row) for row in rows), default=80)
    width, height = columns * CELL[0] + 2 * MARGIN, len(rows) * CELL[1] + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        "<style>text{white-space:pre}</style>",
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
        f'<g font-family="{FONT}" font-size="14" xml:space="preserve">',
    ]
    for number, row in enumerate(rows):
        parts += drawn(row, MARGIN + number * CELL[1])
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def drawn(row, top):
    column = 0
    for text, style in row:
        left, length = MARGIN + column * CELL[0], wide(text) * CELL[0]
        front, back = style.colours()
        if back != BACKGROUND:
            yield f'<rect x="{left:.1f}" y="{top}" width="{length:.1f}" height="{CELL[1]}" fill="{back}"/>'
        if text.strip():
            weight = ' font-weight="bold"' if style.bold else ""
            faint = ' opacity="0.6"' if style.dim else ""
            yield (
                f'<text x="{left:.1f}" y="{top + 13.5}" textLength="{length:.1f}" '
                f'lengthAdjust="spacingAndGlyphs" fill="{front}"{weight}{faint}>{escape(text)}</text>'
            )
        column += wide(text)


def wide(text):
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def runs(line):
    """Neighbours that look the same, together. A blank without a background looks like any neighbour of that sort."""
    joined = []
    for character, style in line:
        same = joined and joined[-1][1] == style
        if same or joined and character == " " and bare(style) and bare(joined[-1][1]):
            joined[-1][0].append(character)
        else:
            joined.append(([character], style))
    return [("".join(text), style) for text, style in joined]


def bare(style):
    return style.colours()[1] == BACKGROUND


def parsed(screen):
    """The lines of a screen, each character with its style."""
    style = Style()
    for line in screen.rstrip("\n").split("\n"):
        characters, at = [], 0
        for match in SEQUENCE.finditer(line):
            characters += [(c, style) for c in line[at:match.start()]]
            at = match.end()
            if match.group(1) is not None:
                style = restyled(style, match.group(1))
        yield characters + [(c, style) for c in line[at:]]


def restyled(style, codes):
    codes = [int(code or 0) for code in re.split("[;:]", codes)]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = Style()
        elif code in (1, 2, 7):
            style = replace(style, **{{1: "bold", 2: "dim", 7: "reverse"}[code]: True})
        elif code == 22:
            style = replace(style, bold=False, dim=False)
        elif code == 27:
            style = replace(style, reverse=False)
        elif code in (38, 48):
            style = replace(style, **{"front" if code == 38 else "back": long_colour(codes)})
        elif code in (39, 49):
            style = replace(style, **{"front" if code == 39 else "back": None})
        else:
            style = named(style, code)
    return style


def named(style, code):
    for first, place, offset in ((30, "front", 0), (40, "back", 0), (90, "front", 8), (100, "back", 8)):
        if first <= code < first + 8:
            return replace(style, **{place: NAMED[code - first + offset]})
    return style


def long_colour(codes):
    if codes.pop(0) == 2:
        red, green, blue = codes.pop(0), codes.pop(0), codes.pop(0)
        return f"#{red:02x}{green:02x}{blue:02x}"
    number = codes.pop(0)
    if number < 16:
        return NAMED[number]
    if number >= 232:
        grey = 8 + 10 * (number - 232)
        return f"#{grey:02x}{grey:02x}{grey:02x}"
    number -= 16
    red, green, blue = STEPS[number // 36], STEPS[number // 6 % 6], STEPS[number % 6]
    return f"#{red:02x}{green:02x}{blue:02x}"
