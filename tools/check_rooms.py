"""check_rooms.py [ROOT]: does every file stay within its room?

Reads room(... NEEDS ...) from every CMakeLists.txt below src/ and checks that
- every source lies in a room: the nearest folder above it that has a room(...), at any depth;
- src/ has at most 12 storeys (folders), and neither rooms nor storeys form a circle; every #include "room/..." follows an arrow (tests: TEST_NEEDS too);
- a third-party library is included only by the rooms that own it;
- the clock, sleep and unseeded randomness stay out of the rooms that must repeat exactly;
- no two rooms that can meet in one program have types of the same name;
- no code asks whether it is being simulated, and no header opens a namespace for its readers.
"""
import pathlib
import re
import sys

from cpp_text import Exceptions, code_only, is_test, line_of, report, source_files

# Library header -> rooms that may include it. Tests may include any of them.
WALLS = {
    r"CLI/": {"client", "command_pages", "commands", "listing", "local_client", "programs", "trainer"},
    r"nlohmann/": {"agent", "api", "client", "commands", "gce", "market", "daemon", "figures", "lease", "libtorch", "listing", "report", "result", "rpc", "runs", "star",
                   "trainer", "transient_run", "twin_fit", "workload"},
    r"toml\+\+/|toml\.hpp": {"base"},
    r"zstd": {"report"},
    r"lemon/": set(),
    r"Cbc|Coin|OsiClp": {"integer_program"},
    r"svm\.h": {"models"},
    r"sqlite3": {"database", "store"},
    r"zlib": {"store"},
    r"grpc(?:pp)?/|absl/|orrery/v\d+/.*\.grpc\.pb\.h|httplib": {"gce", "rpc"},
    r"google/protobuf/|orrery/v\d+/\w+\.pb\.h": {"codec", "unix_socket", "rpc"},
    r"openssl/|live/auth/openssl\.h": {"rpc", "auth", "gce"},
    r"torch/|ATen/|c10": {"libtorch"},
    r"boost/": {"trainer"},
    r"spawn\.h|sys/wait\.h|dlfcn\.h": {"agent", "emulation", "job_runner", "local_servers", "star", "trainer", "transient_run"},
}

# commands/, client/, programs/, terminal/ and runs/ talk to a person and measure, agent/ and job_runner/ run
# real processes, so do local_servers/ and transient_run/; rpc/, gce/ and unix_socket/ talk to other processes, daemon/ is the scheduler's, emulation/ slows
# real processes down, trainer/ is made of them; everything below is handed time and a seeded generator.
OUTSIDE_WORLD = {"agent", "client", "commands", "daemon", "emulation", "gce", "job_runner", "lease", "local_servers", "programs",
                 "rpc", "runs", "terminal", "trainer", "transient_run", "unix_socket"}
BANNED = re.compile(
    r"\b(?:system_clock|steady_clock|high_resolution_clock)\s*::\s*now\b"
    r"|\brandom_device\b|\bsleep_(?:for|until)\b|(?<![\w.>])s?rand\s*\("
)
SIMULATED = re.compile(r"simulat(?:ed|ing|ion_mode)\b|is_sim(?:ulat\w*)?\b", re.IGNORECASE)
SIMULATE = re.compile(r"simulate\b", re.IGNORECASE)

KEYWORDS = (
    "NEEDS", "LIBS", "TEST_NEEDS", "TEST_LIBS", "TESTS_TOGETHER", "TESTS_COMPUTE", "OWN_HEADERS"
)
STOREYS = 12
RULES = ("arrow", "wall", "banned", "simulated", "using-namespace")


def read_rooms(src, faults):
    """{room: {keyword: [word...], "folder": path below src}} as the CMake files state it."""
    rooms = {}
    for lists in sorted(src.rglob("CMakeLists.txt")):
        text = re.sub(r"#[^\n]*", "", lists.read_text())
        for call in re.finditer(r"\broom\s*\(([^)]*)\)", text, re.IGNORECASE):
            holds = re.search(r'\bHOLDS\s+"([^"]*)"', call.group(1))
            name, *words = re.sub(r'\bHOLDS\s+"[^"]*"', "", call.group(1)).split() or [""]
            said = {keyword: [] for keyword in KEYWORDS}
            said["HOLDS"] = holds.group(1) if holds else ""
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
            elif not said["HOLDS"]:
                faults.append(f'{lists}: room({name} ...) does not say what it holds: HOLDS "..."')
            elif name in rooms:
                faults.append(f"{lists}: room '{name}' is also in {src / rooms[name]['folder']}")
            else:
                rooms[name] = {**said, "folder": lists.parent.relative_to(src)}
    for folder in sorted(path for path in src.rglob("*") if path.is_dir()):
        holds = any(file.suffix in (".h", ".cc") for file in folder.iterdir())
        top = folder.parent == src and not any(said["folder"].is_relative_to(folder.relative_to(src)) for said in rooms.values())
        if (holds or top) and not room_of(rooms, folder.relative_to(src) / "file"):
            faults.append(f"{folder}: has no room({folder.name} ...) in its CMakeLists.txt")
    for name, said in rooms.items():
        for needed in said["NEEDS"] + said["TEST_NEEDS"]:
            if needed not in rooms:
                faults.append(f"{src / said['folder']}: needs '{needed}', which is no room")
    return rooms


def room_of(rooms, path):
    """The room a file belongs to, `path` relative to src: the deepest room above it, or None."""
    above = [name for name, said in rooms.items() if path.is_relative_to(said["folder"])]
    return max(above, key=lambda name: len(rooms[name]["folder"].parts), default=None)


def needs_of(rooms):
    """{room: the rooms in its NEEDS}"""
    return {name: [other for other in said["NEEDS"] if other in rooms] for name, said in rooms.items()}


def storey_needs(rooms):
    """{storey: the other storeys that its rooms need}"""
    storey = {name: said["folder"].parts[0] for name, said in rooms.items()}
    return {above: sorted({storey[other] for name, others in needs_of(rooms).items() if storey[name] == above
                           for other in others} - {above}) for above in sorted(set(storey.values()))}  # fmt: skip


def storeys_in_order(rooms):
    """From bottom to top: each storey after those it needs, as low as possible, the needed ones first."""
    needs, done = storey_needs(rooms), []
    if find_circle(needs):
        return sorted(needs)
    height = {}

    def measure(storey):
        if storey not in height:
            height[storey] = 1 + max((measure(other) for other in needs[storey]), default=-1)
        return height[storey]

    for storey in needs:
        measure(storey)
    while len(done) < len(needs):
        free = [s for s in needs if s not in done and all(other in done for other in needs[s])]
        done.append(min(free, key=lambda s: (height[s], s)))
    return done


def find_circle(needs):
    """The names of one circle, first and last the same; empty when there is none."""
    done = set()

    def walk(room, path):
        if room in path:
            return [*path[path.index(room) :], room]
        if room in done:
            return []
        for needed in needs[room]:
            if circle := walk(needed, [*path, room]):
                return circle
        done.add(room)
        return []

    for room in sorted(needs):
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
                rooms_named = " and ".join(sorted(owners)) or "tests"
                yield "wall", line, f"only {rooms_named} may include <{target}>"
        if quote == "<" or not room:
            continue
        other = room_of(rooms, pathlib.PurePath(target))
        if not (src / target).is_file() or not other:
            yield "arrow", line, f'"{target}" is no file of a room; libraries are included with <>'
        elif other not in allowed:
            yield "arrow", line, f"{room} may not include {other}: it is not in its NEEDS"


def check_words(where, room, code):
    """Yields (rule, line, message)."""
    if room and room not in OUTSIDE_WORLD:
        for match in BANNED.finditer(code):
            word = re.sub(r"[\s(]+", "", match.group())
            yield "banned", line_of(code, match.start()), (
                f"'{word}' below the wall: take the time or a Random as an argument"
            )
    if room and room != "simulation":
        for match in re.finditer(r"\b(?:if|while)\s*(?:constexpr\s*)?\(", code):
            asked = condition(code, match.end() - 1)
            # In commands/ `simulate` is the name of a command.
            if SIMULATED.search(asked) or (room != "commands" and SIMULATE.search(asked)):
                yield "simulated", line_of(code, match.start()), (
                    "asks whether it is simulated; only simulation/ may know"
                )
    if where.suffix == ".h":
        for match in re.finditer(r"\busing\s+namespace\b", code):
            yield "using-namespace", line_of(code, match.start()), "'using namespace' in a header"


def check_names(rooms, src):
    """Yields faults: two types of one name in one program would be taken for each other unseen."""
    programs = [reach(rooms, [top]) for top in rooms if not any(top in said["NEEDS"] for said in rooms.values())]
    seen = {}
    for header in sorted(src.rglob("*.h")):
        room, code = room_of(rooms, header.relative_to(src)), code_only(header.read_text(errors="replace"))
        if not room or is_test(header) or header.name.startswith("test_") or re.search(r"namespace orrery::|namespace (?!orrery)\w", code):
            continue
        for match in re.finditer(r"^(?:struct|class|enum class)\s+(\w+)\b(?!::)[^;(]*?\{", code, re.MULTILINE):
            name = match.group(1)
            before_room, before = seen.setdefault(name, (room, header))
            meet = any({room, before_room} <= program for program in programs)
            if before_room != room and meet:
                yield f"{header.relative_to(src.parent)}: {name} is also in {before.relative_to(src.parent)}"


def check(root):
    src = root / "src"
    faults = []
    rooms = read_rooms(src, faults)
    if circle := find_circle(needs_of(rooms)):
        faults.append("rooms form a circle: " + " -> ".join(circle))
    elif circle := find_circle(storey_needs(rooms)):
        faults.append("storeys form a circle: " + " -> ".join(circle))
    if (entries := len([path for path in src.iterdir() if path.is_dir()])) > STOREYS:
        faults.append(f"{src} has {entries} folders, at most {STOREYS}: a room goes into a storey")
    faults += check_names(rooms, src)
    exceptions = Exceptions(root, RULES)
    faults += exceptions.faults
    includes = 0
    for file in source_files(root):
        where = file.relative_to(root)
        room = room_of(rooms, where.relative_to("src")) if where.parts[0] == "src" else None
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
