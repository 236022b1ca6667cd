#!/usr/bin/env python3
"""draw_rooms.py [--check]: writes what the documents say about rooms, from the room(...) lines.

- docs/images/rooms.svg: the storeys of src/ from top to bottom, each with its rooms and what it includes;
- the tables between `<!-- rooms -->` and `<!-- end of rooms -->` in ARCHITECTURE.md and in the README.md
  of each storey.

With --check nothing is written, and a document that differs is an error. The heading of a storey's
README.md is `# NAME: SENTENCE`; the picture shows the sentence.
"""
import html
import pathlib
import re
import sys

from check_rooms import read_rooms, storey_needs, storeys_in_order

BEGIN, END = "<!-- rooms -->", "<!-- end of rooms -->"
WIDTH, ROW, GAP, TOP = 1180, 84, 10, 20
COLOURS = {  # what kind of storey: background, border
    "ground": ("#eceff5", "#9aa6bd"),
    "decides": ("#fdf0dd", "#d29a45"),
    "world": ("#e8f2ec", "#5b9a7b"),
    "front": ("#ffffff", "#c9c6bd"),
}
KIND = {
    "base": "ground", "model": "ground", "algorithms": "ground", "workload": "front", "scheduling": "decides",
    "simulation": "world", "report": "front", "live": "world", "training": "world", "cloud": "world",
    "experiments": "front", "commands": "front",
}  # fmt: skip


def rooms_of(rooms, storey):
    """The storey's rooms, each after those of the storey that it needs."""
    mine = [name for name, room in rooms.items() if room["folder"].parts[0] == storey]
    done = []
    while len(done) < len(mine):
        done.append(next(name for name in sorted(mine) if name not in done
                         and all(other in done for other in rooms[name]["NEEDS"] if other in mine)))  # fmt: skip
    return done


def table(rooms, names):
    lines = ["| room | holds | may include, with what those include |", "|---|---|---|"]
    for name in names:
        needs = ", ".join(f"`{other}`" for other in rooms[name]["NEEDS"]) or "–"
        lines.append(f"| `{rooms[name]['folder']}` | {rooms[name]['HOLDS']} | {needs} |")
    return "\n".join(lines)


def sentence(root, storey):
    readme = root / "src" / storey / "README.md"
    first = readme.read_text().split("\n", 1)[0] if readme.is_file() else ""
    match = re.fullmatch(rf"# {storey}: (.+)", first)
    return match.group(1) if match else None


def draw(root, rooms, order):
    needs = storey_needs(rooms)
    height = TOP + len(order) * (ROW + GAP) + 16
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="The storeys of Orrery, each above all that it includes" '
        "font-family=\"system-ui, -apple-system, 'Segoe UI', sans-serif\">",
        "  <style>",
        "    .name { font-size: 20px; font-weight: 650; fill: #1d2433 }",
        "    .what { font-size: 13.5px; fill: #4c5466 }",
        "    .room { font-size: 13.5px; fill: #1d2433; text-anchor: middle }",
        "    .needs { font-size: 12px; fill: #5d6473; text-anchor: end }",
        "  </style>",
        f'  <rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="16" fill="#faf9f5" '
        'stroke="#e2dfd5" stroke-width="2"/>',
    ]
    for row, storey in enumerate(reversed(order)):
        y = TOP + row * (ROW + GAP)
        fill, line = COLOURS[KIND[storey]]
        out.append(
            f'  <rect x="20" y="{y}" width="{WIDTH - 40}" height="{ROW}" rx="9" fill="{fill}" stroke="{line}" '
            'stroke-width="1.5"/>'
        )
        out.append(f'  <text class="name" x="38" y="{y + 30}">{storey}/</text>')
        out.append(f'  <text class="what" x="225" y="{y + 29}">{html.escape(sentence(root, storey))}</text>')
        below = [other for other in reversed(order) if other in needs[storey]]
        if below:
            out.append(
                f'  <text class="needs" x="{WIDTH - 36}" y="{y + 29}">includes {html.escape(", ".join(below))}</text>'
            )
        x = 38
        for name in rooms_of(rooms, storey):
            width = 22 + 8 * len(name)
            out.append(
                f'  <rect x="{x}" y="{y + 46}" width="{width}" height="26" rx="6" fill="#ffffff" '
                f'stroke="{line}"/>'
            )
            out.append(f'  <text class="room" x="{x + width / 2:.0f}" y="{y + 64}">{name}</text>')
            x += width + 8
    return "\n".join([*out, "</svg>", ""])


def with_table(text, made):
    """`text` with `made` between the marks; None where there are no marks."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        return None
    return f"{text[: text.index(BEGIN)]}{BEGIN}\n{made}\n{text[text.index(END) :]}"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    faults = []
    rooms = read_rooms(root / "src", faults)
    order = storeys_in_order(rooms)
    faults += [f"tools/draw_rooms.py: '{storey}' has no kind" for storey in order if storey not in KIND]
    faults += [f"src/{storey}/README.md: begins with '# {storey}: SENTENCE'"
               for storey in order if not sentence(root, storey)]  # fmt: skip
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    wanted = {root / "docs/images/rooms.svg": draw(root, rooms, order)}
    everything = [name for storey in reversed(order) for name in reversed(rooms_of(rooms, storey))]
    tables = {root / "ARCHITECTURE.md": everything}
    tables |= {root / "src" / storey / "README.md": list(reversed(rooms_of(rooms, storey))) for storey in order}
    for path, names in tables.items():
        wanted[path] = with_table(path.read_text(), table(rooms, names))
        if wanted[path] is None:
            print(f"{path.relative_to(root)}: needs one line '{BEGIN}' and one '{END}'", file=sys.stderr)
            return 1
    if "--check" not in sys.argv[1:]:
        for path, text in wanted.items():
            path.write_text(text)
        return 0
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(root)} does not show the rooms of src/: run tools/draw_rooms.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
