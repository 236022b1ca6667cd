#!/usr/bin/env python3
"""draw_rooms.py [--check]: draws docs/images/rooms.svg from the room(... NEEDS ...) lines.

Rooms lie in layers, each above all it may include; arrows that follow from others are left out. With
--check nothing is written, and a picture that is not what would be drawn is an error.
"""
import pathlib
import sys

from check_rooms import read_rooms

# Room -> (kind, what stands in its box). A room without a line here cannot be drawn.
ROOMS = {
    "base": ("ground", "Result, Random"),
    "model": ("ground", "values"),
    "solve": ("ground", "CBC"),
    "match": ("ground", "matching"),
    "trust": ("wire", "certificates"),
    "workload": ("edge", "traces in"),
    "predict": ("mind", "how fast"),
    "placement": ("mind", "where"),
    "policy": ("mind", "who, how much"),
    "control": ("heart", "decisions to actions"),
    "sim": ("world", "simulated machines"),
    "report": ("edge", "figures out"),
    "store": ("world", "durable log"),
    "protocol": ("wire", "what is said"),
    "wire": ("wire", "its bytes"),
    "door": ("wire", "Unix socket"),
    "rpc": ("wire", "gRPC, HTTP"),
    "agent": ("world", "real processes"),
    "daemon": ("heart", "the scheduler"),
    "ahead": ("heart", "what will be"),
    "ctl": ("edge", "live commands"),
    "cli": ("edge", "commands"),
    "near": ("edge", "orrery"),
    "service": ("edge", "serve, agent"),
    "sync": ("heart", "the Conductor"),
    "steer": ("mind", "STAR, rivals"),
    "share": ("mind", "jobs on one server"),
    "hinder": ("world", "slow servers"),
    "learn": ("world", "libtorch"),
    "train": ("edge", "orrery-train"),
    "trials": ("edge", "reproduce star"),
    "twin": ("world", "training as events"),
}
KINDS = (("edge", "in and out"), ("heart", "leads"), ("mind", "decides"), ("world", "a world"),
         ("wire", "between processes"), ("ground", "ground"))
WIDTH, BOX, HIGH, STEP, TOP = 1180, 132, 50, 96, 40


def reduced(needs):
    """The arrows that do not follow from others."""
    def reach(room, seen):
        for other in needs[room]:
            if other not in seen:
                seen.add(other)
                reach(other, seen)
        return seen

    return {room: [other for other in others
                   if not any(other in reach(third, set()) for third in others if third != other)]
            for room, others in needs.items()}


def layers_of(needs):
    depth = {}

    def measure(room):
        if room not in depth:
            depth[room] = 1 + max((measure(other) for other in needs[room]), default=-1)
        return depth[room]

    for room in needs:
        measure(room)
    layers = [[] for _ in range(max(depth.values()) + 1)]
    for room in sorted(needs):
        layers[depth[room]].append(room)
    return layers


def place(layers, arrows):
    """x by room: near what it is joined to, and never closer than a box apart."""
    x = {room: WIDTH * (i + 1) / (len(layer) + 1)
         for layer in layers for i, room in enumerate(layer)}
    joined = {room: list(others) for room, others in arrows.items()}
    for room, others in arrows.items():
        for other in others:
            joined[other].append(room)
    gap = BOX + 14
    for _ in range(60):
        for layer in layers:
            wish = {room: sum(x[other] for other in joined[room]) / max(1, len(joined[room]))
                    for room in layer}
            layer.sort(key=lambda room: (wish[room], room))
            first = BOX / 2 + 16
            room_for = WIDTH - 2 * first
            step = min(gap, room_for / max(1, len(layer) - 1))
            for i, room in enumerate(layer):
                least = first + i * step
                most = first + room_for - (len(layer) - 1 - i) * step
                left = x[layer[i - 1]] + step if i else least
                x[room] = min(max(wish[room], least, left), most)
    return x


def draw(needs):
    arrows = reduced(needs)
    layers = layers_of(needs)
    x = place(layers, arrows)
    height = TOP + len(layers) * STEP + 26
    y = {room: TOP + (len(layers) - 1 - i) * STEP for i, layer in enumerate(layers) for room in layer}
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
           f'height="{height}" role="img" aria-label="The rooms of Orrery and who may include whom" '
           'font-family="system-ui, -apple-system, \'Segoe UI\', sans-serif">',
           '  <defs>',
           '    <marker id="tip" viewBox="0 0 10 10" refX="8.5" refY="5" markerWidth="7" '
           'markerHeight="7" orient="auto"><path d="M0 1 9 5 0 9Z" fill="#6c7280"/></marker>',
           '    <style>',
           '      .room { stroke-width: 1.5 }',
           '      .edge { fill: #ffffff; stroke: #c9c6bd }',
           '      .world { fill: #e8f2ec; stroke: #5b9a7b }',
           '      .heart { fill: #22355c; stroke: #22355c }',
           '      .mind { fill: #fdf0dd; stroke: #d29a45 }',
           '      .ground { fill: #eceff5; stroke: #9aa6bd }',
           '      .wire { fill: #efeaf7; stroke: #8d7ab8 }',
           '      .arrow { fill: none; stroke: #9298a5; stroke-width: 1.4; marker-end: url(#tip) }',
           '      .name { font-size: 17px; font-weight: 650; fill: #1d2433; text-anchor: middle }',
           '      .what { font-size: 12.5px; fill: #4c5466; text-anchor: middle }',
           '      .light { fill: #ffffff }',
           '      .pale { fill: #c8d3ea }',
           '      .note { font-size: 12.5px; fill: #5d6473 }',
           '    </style>',
           '  </defs>',
           f'  <rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="16" fill="#faf9f5" '
           'stroke="#e2dfd5" stroke-width="2"/>',
           '  <g class="arrow">']
    for room in sorted(arrows):
        below = sorted(arrows[room], key=lambda other: x[other])
        for i, other in enumerate(below):
            # Arrows leave and arrive side by side.
            above = sorted((r for r in arrows if other in arrows[r]), key=lambda r: x[r])
            start = x[room] + (i - (len(below) - 1) / 2) * min(16, BOX / (len(below) + 1))
            at = above.index(room)
            end = x[other] + (at - (len(above) - 1) / 2) * min(12, BOX / (len(above) + 1))
            top, bottom = y[room] + HIGH, y[other] - 3
            bend = (bottom - top) / 2
            out.append(f'    <path d="M{start:.0f} {top}C{start:.0f} {top + bend:.0f} {end:.0f} '
                       f'{bottom - bend:.0f} {end:.0f} {bottom}"/>')
    out.append('  </g>')
    for room in sorted(needs):
        kind, what = ROOMS[room]
        left = x[room] - BOX / 2
        light, pale = (" light", " pale") if kind == "heart" else ("", "")
        out.append(f'  <rect class="room {kind}" x="{left:.0f}" y="{y[room]}" width="{BOX}" '
                   f'height="{HIGH}" rx="9"/>')
        out.append(f'  <text class="name{light}" x="{x[room]:.0f}" y="{y[room] + 21}">{room}</text>')
        out.append(f'  <text class="what{pale}" x="{x[room]:.0f}" y="{y[room] + 39}">{what}</text>')
    for i, (kind, says) in enumerate(KINDS):
        out.append(f'  <rect class="room {kind}" x="{20 + 150 * i}" y="{height - 28}" width="18" '
                   f'height="14" rx="3"/>')
        out.append(f'  <text class="note" x="{44 + 150 * i}" y="{height - 17}">{says}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    faults = []
    rooms = read_rooms(root / "src", faults)
    unknown = sorted(set(rooms) - set(ROOMS))
    if faults or unknown:
        print("\n".join(faults + [f"tools/draw_rooms.py: say in ROOMS what '{room}' is"
                                  for room in unknown]), file=sys.stderr)
        return 1
    text = draw({room: said["NEEDS"] for room, said in rooms.items()})
    picture = root / "docs/images/rooms.svg"
    if "--check" not in sys.argv[1:]:
        picture.write_text(text)
        return 0
    if picture.read_text() == text:
        return 0
    print("docs/images/rooms.svg is not how the rooms are; draw it anew: tools/draw_rooms.py",
          file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
