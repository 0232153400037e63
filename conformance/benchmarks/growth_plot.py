"""A picture of times against sizes: panels of one operator each, both axes logarithmic, as SVG.

measure_growth.py calls `picture`; by itself it draws such a run's JSON again:

    conformance/benchmarks/growth_plot.py growth.json growth.svg
"""

import html
import json
import math
import pathlib
import sys

COLUMNS, WIDTH, HEIGHT = 2, 400, 250  # of panels, and of one
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 30, 40  # around its axes
HEADER = 66
OURS, THEIRS, COPY, GRID, INK = "#0b5cad", "#d1560f", "#777777", "#e3e3e3", "#222222"
UNITS = {-9: "1 ns", -8: "10 ns", -7: "100 ns", -6: "1 us", -5: "10 us", -4: "100 us", -3: "1 ms",
         -2: "10 ms", -1: "100 ms", 0: "1 s", 1: "10 s", 2: "100 s", 3: "1000 s"}


class Axes:
    """Where a panel's sizes and seconds lie."""

    def __init__(self, left, top, sizes, seconds):
        self.x0, self.x1 = left + LEFT, left + WIDTH - RIGHT
        self.y0, self.y1 = top + HEIGHT - BOTTOM, top + TOP
        self.least, self.most = math.log2(min(sizes)), math.log2(max(sizes))
        self.bottom = math.floor(math.log10(min(seconds)))
        self.top = max(math.ceil(math.log10(max(seconds))), self.bottom + 1)

    def x(self, size):
        return self.x0 + (self.x1 - self.x0) * (math.log2(size) - self.least) / max(
            1, self.most - self.least)

    def y(self, seconds):
        part = (math.log10(seconds) - self.bottom) / (self.top - self.bottom)
        return self.y0 + (self.y1 - self.y0) * min(1.0, max(0.0, part))


def text(x, y, words, size=11, anchor="middle", weight="normal", color=INK):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'font-weight="{weight}" fill="{color}">{html.escape(words)}</text>')


def line(x0, y0, x1, y1, color, width=1.0, dashes=""):
    style = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{color}" '
            f'stroke-width="{width}"{style}/>')


def curve(axes, points, color, marker):
    path = " ".join(f"{axes.x(n):.1f},{axes.y(s):.1f}" for n, s in points)
    marks = [f'<circle cx="{axes.x(n):.1f}" cy="{axes.y(s):.1f}" r="2.6" fill="{color}"/>'
             if marker == "circle" else
             f'<rect x="{axes.x(n) - 2.4:.1f}" y="{axes.y(s) - 2.4:.1f}" width="4.8" height="4.8" '
             f'fill="{color}"/>' for n, s in points]
    return [f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.6"/>', *marks]


def grid(axes):
    out = []
    for power in range(axes.bottom, axes.top + 1):
        y = axes.y(10.0**power)
        out += [line(axes.x0, y, axes.x1, y, GRID),
                text(axes.x0 - 5, y + 3.5, UNITS.get(power, f"1e{power} s"), 10, "end")]
    for power in range(math.ceil(axes.least), math.floor(axes.most) + 1):
        if power % 4 == 2 or axes.most - axes.least < 8:
            x = axes.x(2.0**power)
            out += [line(x, axes.y0, x, axes.y1, GRID), text(x, axes.y0 + 13, f"2^{power}", 10)]
    out += [line(axes.x0, axes.y0, axes.x1, axes.y0, INK),
            line(axes.x0, axes.y0, axes.x0, axes.y1, INK),
            text((axes.x0 + axes.x1) / 2, axes.y0 + 28, "elements", 10)]
    return out


def panel(name, rows, copy_rate, left, top):
    """One operator: its rows have elements, bytes, primset_s and perhaps pytorch_s."""
    ours = [(r["elements"], r["primset_s"]) for r in rows]
    theirs = [(r["elements"], r["pytorch_s"]) for r in rows if "pytorch_s" in r]
    axes = Axes(left, top, [n for n, _ in ours], [s for _, s in ours + theirs])
    out = [text((axes.x0 + axes.x1) / 2, top + 20, name, 13, weight="bold"), *grid(axes)]
    copied = [(r["elements"], r["bytes"] / copy_rate) for r in rows]
    seen = [(n, s) for n, s in copied if s >= 10.0**axes.bottom]
    for (n0, s0), (n1, s1) in zip(seen, seen[1:]):
        out.append(line(axes.x(n0), axes.y(s0), axes.x(n1), axes.y(s1), COPY, 1.2, "5 3"))
    if theirs:
        out += curve(axes, theirs, THEIRS, "rect")
    return out + curve(axes, ours, OURS, "circle")


def legend(facts):
    out = [text(LEFT, 24, "Time of a call against its size", 16, "start", "bold"),
           text(LEFT, 42, f"{facts['machine']}; Primset's {facts['device']}, PyTorch "
                          f"{facts['pytorch']}; f32", 11, "start")]
    x = LEFT
    for words, color, dashes in (("Primset", OURS, ""), ("PyTorch", THEIRS, ""),
                                 (f"its bytes at the copy rate, {facts['copy_gb_s']:.1f} GB/s",
                                  COPY, "5 3")):
        out += [line(x, 56, x + 24, 56, color, 2, dashes), text(x + 30, 60, words, 11, "start")]
        x += 110
    return out


def picture(facts, rows):
    """The SVG's text."""
    names = list(dict.fromkeys(r["operator"] for r in rows))
    height = HEADER + HEIGHT * math.ceil(len(names) / COLUMNS) + 6
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{COLUMNS * WIDTH}" height="{height}" '
           f'viewBox="0 0 {COLUMNS * WIDTH} {height}" font-family="Helvetica, Arial, sans-serif">',
           f'<rect width="{COLUMNS * WIDTH}" height="{height}" fill="white"/>', *legend(facts)]
    for i, name in enumerate(names):
        these = [r for r in rows if r["operator"] == name]
        out += panel(name, these, facts["copy_gb_s"] * 1e9, i % COLUMNS * WIDTH,
                     HEADER + i // COLUMNS * HEIGHT)
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("growth_plot.py: expected the JSON of a run and the SVG to write")
    run = json.loads(pathlib.Path(sys.argv[1]).read_text())
    pathlib.Path(sys.argv[2]).write_text(picture(run, run["rows"]))
