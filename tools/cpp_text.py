"""What the checkers share: the source files, C++ text without comments and literals, exceptions."""
import pathlib
import re

TOP_FOLDERS = ("src", "apps", "tests", "bench", "fuzz", "clients")

NOT_CODE = re.compile(
    r"""
    //(?:\\\n|[^\n])*                                  # line comment
  | /\*.*?\*/                                          # block comment
  | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"   # raw string
  | "(?:\\.|[^"\\\n])*"                                # string
  | (?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])*'  # character; not a digit separator
    """,
    re.VERBOSE | re.DOTALL,
)


def code_only(text):
    """The text with comments and literals blanked out; every line stays where it was."""

    def blank(match):
        found = match.group()
        kept = '""' if '"' in found[:20] and not found.startswith("/") else " "
        return kept + "\n" * found.count("\n")

    return NOT_CODE.sub(blank, text)


def source_files(root):
    """Every .h and .cc of the project under root, in order."""
    for folder in TOP_FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".h", ".cc") and file.is_file():
                yield file


def is_test(where):
    """`where` is relative to the root."""
    return where.stem.endswith("_test") or where.parts[0] == "tests" or "testing" in where.parts[1:]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


class Exceptions:
    """tools/exceptions.txt: lines of `rule path reason...`. Each must be used and have a reason."""

    def __init__(self, root, rules):
        self.entries = {}
        self.faults = []
        self.used = set()
        path = root / "tools" / "exceptions.txt"
        if not path.exists():
            return
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            words = line.split(maxsplit=2)
            if words[0] not in rules:
                continue  # another checker's
            if len(words) < 3:
                self.faults.append(f"tools/exceptions.txt:{number}: an exception needs a reason")
                continue
            self.entries[words[0], words[1]] = number

    def allow(self, rule, path):
        key = (rule, pathlib.PurePath(path).as_posix())
        if key in self.entries:
            self.used.add(key)
        return key in self.entries

    def leftovers(self):
        for key, number in self.entries.items():
            if key not in self.used:
                yield f"tools/exceptions.txt:{number}: '{key[0]} {key[1]}' is not needed any more"


def report(faults, fine):
    """Prints what was found; the exit status."""
    print("\n".join(faults) if faults else fine)
    return 1 if faults else 0
