"""check_rooms.py [ROOT]: does every file stay within its room?

Reads room(... NEEDS ...) from src/*/CMakeLists.txt and checks that
- rooms form no circle, and every #include "room/..." follows an arrow (tests: TEST_NEEDS too);
- a third-party library is included only by the rooms that own it;
- the clock, sleep and unseeded randomness stay out of the rooms that must repeat exactly;
- no code asks whether it is being simulated, and no header opens a namespace for its readers.
"""
import pathlib
import re
import sys

from cpp_text import Exceptions, code_only, is_test, line_of, report, source_files

# Library header -> rooms that may include it. Tests may include any of them.
WALLS = {
    r"CLI/": {"cli", "ctl", "service", "train"},
    r"nlohmann/": {"workload", "report", "cli", "ctl", "protocol", "daemon", "agent", "rpc", "learn",
                "train"},
    r"toml\+\+/|toml\.hpp": {"base"},
    r"zstd": {"report"},
    r"lemon/": set(),
    r"Cbc|Coin|OsiClp": {"solve"},
    r"sqlite3": {"store"},
    r"zlib": {"store"},
    r"grpc(?:pp)?/|absl/|google/protobuf/|orrery/v\d+/.*\.pb\.h|httplib": {"rpc"},
    r"openssl/|trust/openssl\.h": {"rpc", "trust"},
    r"torch/|ATen/|c10": {"learn"},
    r"boost/": {"train"},
    r"spawn\.h|sys/wait\.h|dlfcn\.h": {"agent", "hinder", "train"},
}

# cli/, ctl/ and service/ talk to a person and measure, agent/ runs real processes, rpc/ talks to
# other machines, daemon/ is the scheduler's process, hinder/ slows real processes down; everything
# below them is handed time and a seeded generator.
OUTSIDE_WORLD = {"agent", "cli", "ctl", "rpc", "daemon", "hinder", "service", "train"}
BANNED = re.compile(
    r"\b(?:system_clock|steady_clock|high_resolution_clock)\s*::\s*now\b"
    r"|\brandom_device\b|\bsleep_(?:for|until)\b|(?<![\w.>])s?rand\s*\("
)
SIMULATED = re.compile(r"simulat(?:ed|ing|ion_mode)\b|is_sim(?:ulat\w*)?\b", re.IGNORECASE)
SIMULATE = re.compile(r"simulate\b", re.IGNORECASE)

KEYWORDS = ("NEEDS", "LIBS", "TEST_NEEDS", "TEST_LIBS", "TESTS_TOGETHER")
RULES = ("arrow", "wall", "banned", "simulated", "using-namespace")


def read_rooms(src, faults):
    """{room: {keyword: [word...]}} as the CMake files state it."""
    rooms = {}
    for lists in sorted(src.glob("*/CMakeLists.txt")):
        text = re.sub(r"#[^\n]*", "", lists.read_text())
        for call in re.finditer(r"\broom\s*\(([^)]*)\)", text, re.IGNORECASE):
            name, *words = call.group(1).split() or [""]
            said = {keyword: [] for keyword in KEYWORDS}
            current = None
            for word in words:
                if word in KEYWORDS:
                    current = word
                elif current:
                    said[current].append(word)
                else:
                    faults.append(f"{lists}: room({name} ...): '{word}' stands before any keyword")
            if name != lists.parent.name:
                faults.append(f"{lists}: the room of this folder is '{lists.parent.name}', not '{name}'")
            else:
                rooms[name] = said
    for folder in sorted(path for path in src.iterdir() if path.is_dir()):
        if folder.name not in rooms:
            faults.append(f"{folder}: has no room({folder.name} ...) in its CMakeLists.txt")
    for name, said in rooms.items():
        for needed in said["NEEDS"] + said["TEST_NEEDS"]:
            if needed not in rooms:
                faults.append(f"{src / name}: needs '{needed}', which is no room")
    return rooms


def find_circle(rooms):
    """The rooms of one circle, first and last the same; empty when there is none."""
    done = set()

    def walk(room, path):
        if room in path:
            return [*path[path.index(room) :], room]
        if room in done:
            return []
        for needed in rooms[room]["NEEDS"]:
            if needed in rooms and (circle := walk(needed, [*path, room])):
                return circle
        done.add(room)
        return []

    for room in sorted(rooms):
        if circle := walk(room, []):
            return circle
    return []


def reach(rooms, start):
    seen, todo = set(), list(start)
    while todo:
        room = todo.pop()
        if room in rooms and room not in seen:
            seen.add(room)
            todo += rooms[room]["NEEDS"]
    return seen


def condition(code, start):
    """The text from the opening bracket at `start` to the one that closes it."""
    depth = 0
    for offset in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[offset], 0)
        if depth == 0:
            return code[start : offset + 1]
    return code[start:]


def check_includes(rooms, src, where, room, text):
    """Yields (rule, line, message)."""
    test = is_test(where)
    allowed = None
    if room:
        allowed = reach(rooms, [room] + (rooms[room]["TEST_NEEDS"] if test else []))
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', text, re.MULTILINE):
        line = line_of(text, match.start())
        quote, target = match.groups()
        for header, owners in WALLS.items():
            if room and not test and room not in owners and re.match(header, target):
                who = " and ".join(sorted(owners)) or "tests"
                yield "wall", line, f"only {who} may include <{target}>"
        if quote == "<" or not room:
            continue
        first = target.split("/")[0]
        if not (src / target).is_file():
            yield "arrow", line, f'"{target}" is no file of a room; libraries are included with <>'
        elif first not in allowed:
            yield "arrow", line, f"{room} may not include {first}: it is not in its NEEDS"


def check_words(where, room, code):
    """Yields (rule, line, message)."""
    if room and room not in OUTSIDE_WORLD:
        for match in BANNED.finditer(code):
            word = re.sub(r"[\s(]+", "", match.group())
            yield "banned", line_of(code, match.start()), (
                f"'{word}' below the wall: take the time or a Random as an argument"
            )
    if room and room != "sim":
        for match in re.finditer(r"\b(?:if|while)\s*(?:constexpr\s*)?\(", code):
            asked = condition(code, match.end() - 1)
            # In cli/ `simulate` is the name of a command.
            if SIMULATED.search(asked) or (room != "cli" and SIMULATE.search(asked)):
                yield "simulated", line_of(code, match.start()), (
                    "asks whether it is simulated; only sim/ may know"
                )
    if where.suffix == ".h":
        for match in re.finditer(r"\busing\s+namespace\b", code):
            yield "using-namespace", line_of(code, match.start()), "'using namespace' in a header"


def check(root):
    src = root / "src"
    faults = []
    rooms = read_rooms(src, faults)
    if circle := find_circle(rooms):
        faults.append("rooms form a circle: " + " -> ".join(circle))
    exceptions = Exceptions(root, RULES)
    faults += exceptions.faults
    includes = 0
    for file in source_files(root):
        where = file.relative_to(root)
        room = where.parts[1] if where.parts[0] == "src" and where.parts[1] in rooms else None
        text = file.read_text(errors="replace")
        includes += text.count('#include "')
        found = [
            *check_includes(rooms, src, where, room, text),
            *check_words(where, room, code_only(text)),
        ]
        for rule, line, message in sorted(found, key=lambda entry: entry[1]):
            if not exceptions.allow(rule, where):
                faults.append(f"{where}:{line}: {message}")
    faults += exceptions.leftovers()
    return faults, f"{len(rooms)} rooms, {includes} includes, each along an arrow"


if __name__ == "__main__":
    sys.exit(report(*check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())))
