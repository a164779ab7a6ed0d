"""Tables in Markdown that also read well as they are."""

import math


def table(header, rows):
    """Columns of equal width; numbers are the caller's to format."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    cells.insert(1, ["-" * width for width in widths])
    lines = (" | ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in cells)
    return "\n".join(f"| {line} |" for line in lines)


def holds(value, reached):
    """Whether a wanted figure was reached; of what was not measured nothing is said."""
    if value is None or math.isnan(value):
        return ""
    return "yes" if reached(value) else "NO"


def percent(value, digits=1):
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f} %"


def section(title, text, markdown):
    return f"### {title}\n\n{text}\n" if markdown else f"{title}\n{text}\n"
