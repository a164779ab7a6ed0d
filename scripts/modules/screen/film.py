"""Screens of a terminal, one after the other, as one animated SVG.

All frames lie side by side and the strip moves by one frame at a time, so a browser runs a single CSS
animation. Rows that several frames share are stored once. Readers who prefer reduced motion, and programs
that ignore animations, see one frame that the caller chooses.
"""

import re
from html import escape

from svg import BACKGROUND, CELL, FONT, MARGIN, drawn, parsed, runs

LOOKS = re.compile(r' fill="(#[0-9a-f]{6})"( font-weight="bold")?( opacity="0.6")?')


def film(frames, still, columns, rows, title):
    """The SVG of some frames, each a screen and the seconds that it is shown for. `still` is the screen that stands for
    all of them where nothing moves."""
    frames = without_repeats(frames)
    width, height = round(columns * CELL[0] + 2 * MARGIN), rows * CELL[1] + 2 * MARGIN
    defined, looks, strip = {}, {}, []
    for number, (screen, _) in enumerate(frames):
        strip.append(f'<g transform="translate({number * width})">' + placed(screen, defined, looks) + "</g>")
    resting = -[screen for screen, _ in frames].index(still) * width
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        f"<style>text{{white-space:pre}}{''.join(map(rule, looks, looks.values()))}{animation(frames, width)}</style>",
        "<defs>",
        *(f'<g id="{name}">{row}</g>' for row, name in defined.items()),
        "</defs>",
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
        f'<g font-family="{FONT}" font-size="14" xml:space="preserve">',
        f'<g class="strip" transform="translate({resting})">', *strip, "</g>", "</g>", "</svg>", "",
    ])


def without_repeats(frames):
    """Frames that look the same become one that is shown for longer."""
    kept = []
    for screen, seconds in frames:
        if kept and kept[-1][0] == screen:
            kept[-1] = (screen, kept[-1][1] + seconds)
        else:
            kept.append((screen, seconds))
    return kept


def placed(screen, defined, looks):
    """References to the rows of a screen. New rows and new looks are added to those that are known."""

    def named(look):
        return f' class="{looks.setdefault(look.groups(), f"k{len(looks)}")}"'

    references = []
    for number, line in enumerate(parsed(screen)):
        row = LOOKS.sub(named, "".join(drawn(runs(line), 0)).replace(' lengthAdjust="spacingAndGlyphs"', ""))
        if row:
            name = defined.setdefault(row, f"r{len(defined)}")
            references.append(f'<use href="#{name}" y="{MARGIN + number * CELL[1]}"/>')
    return "".join(references)


def rule(look, name):
    colour, bold, faint = look
    return f".{name}{{fill:{colour}{';font-weight:bold' if bold else ''}{';opacity:.6' if faint else ''}}}"


def animation(frames, width):
    whole = sum(seconds for _, seconds in frames)
    at, stops = 0.0, []
    for number, (_, seconds) in enumerate(frames):
        stops.append(f"{100 * at / whole:.3f}%{{transform:translateX({-number * width}px)}}")
        at += seconds
    return (
        f"@keyframes play{{{''.join(stops)}}}.strip{{animation:play {whole:.1f}s step-end infinite}}"
        "@media (prefers-reduced-motion:reduce){.strip{animation:none}}"
    )
