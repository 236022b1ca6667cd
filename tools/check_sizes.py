"""check_sizes.py [ROOT]: is every line, function, file and folder short enough to be read at one sitting?

Also finds notes to oneself (TODO and the like). tools/exceptions.txt names what may be longer, with
the reason. Function lengths are measured by brackets, without parsing C++: what is unusual enough to
be misread (a function made by a macro, say) is not counted.
"""
import pathlib
import re
import sys

from cpp_text import Exceptions, code_only, is_test, line_of, report, source_files

LINE = 100
FILE = 500
HEADER = 120
FUNCTION = 70
DECISION = 150  # a policy or a placement rule is one idea
DECISION_ROOMS = ("policy", "placement")
SOURCES = 30  # in one folder below src/, without headers and tests

RULES = ("line", "file", "header", "function", "decision", "note", "folder")
NOTE = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")

_CONTAINER = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\b(?:alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)", re.DOTALL)
_TEMPLATE = re.compile(r"\btemplate\s*<[^{}]*?>\s*(?=[\w\[:~])")
_ACCESS = re.compile(r"\s*(?:(?:public|protected|private)\s*:(?!:)\s*)*")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


def opens_function(head):
    """True if a bracket after `head`, at namespace or class level, begins a function's body."""
    head = _ATTRIBUTE.sub("", head)
    if head.count("(") > head.count(")"):
        return False  # an argument in braces
    if ")" not in head or re.search(r"=\s*$", head):
        return False  # an initialiser
    # `template <class T> T f() {` and `struct X f() {` are functions; `struct X : B<g()> {` is none.
    container = _CONTAINER.search(_TEMPLATE.sub("", head))
    return not container or not re.match(r"[^(]*(?<!:):(?!:)", container.string[container.end() :])


def functions(text):
    """Yields (first line, last line, name) of every outermost function."""
    code = _DIRECTIVE.sub(lambda match: "\n" * match.group().count("\n"), code_only(text))
    stack = []  # for each open bracket: offset of the function it opens, None for anything else
    inside = 0  # open brackets since the outermost function began, itself included
    head = 0
    for match in re.finditer(r"[{};]", code):
        offset, sign = match.start(), match.group()
        if sign == "{":
            opener = None
            text_before = code[head:offset]
            if inside:
                inside += 1
            elif opens_function(text_before):
                opener = head + _ACCESS.match(text_before).end()
                inside = 1
            stack.append(opener)
        elif sign == "}" and stack:
            opener = stack.pop()
            inside = max(0, inside - 1)
            if opener is not None:
                names = re.findall(r"([~\w:]+)\s*\(", code[opener:offset])
                yield line_of(code, opener), line_of(code, offset), names[0] if names else "lambda"
        head = offset + 1


def check_file(where, text):
    """Yields (rule, line, message)."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > LINE:
            yield "line", number, f"{len(line)} characters, at most {LINE}"
        if note := NOTE.search(line):
            yield "note", number, f"'{note.group()}': do it, or open an issue"
    if len(lines) > FILE:
        yield "file", len(lines), f"{len(lines)} lines, at most {FILE}"
    elif where.suffix == ".h" and len(lines) > HEADER:
        yield "header", len(lines), f"{len(lines)} lines, at most {HEADER} in a header"
    elif where.parts[:1] == ("src",) and not is_test(where):
        for room in set(where.parts[1:-1]) & set(DECISION_ROOMS):
            if len(lines) > DECISION:
                yield "decision", len(lines), f"{len(lines)} lines, at most {DECISION} in {room}/"
    for first, last, name in functions(text):
        if last - first + 1 > FUNCTION:
            yield "function", first, f"{name} has {last - first + 1} lines, at most {FUNCTION}"


def check(root):
    exceptions = Exceptions(root, RULES)
    faults = list(exceptions.faults)
    files = longest = 0
    for file in source_files(root):
        where = file.relative_to(root)
        text = file.read_text(errors="replace")
        files += 1
        longest = max([longest, *(last - first + 1 for first, last, _ in functions(text))])
        for rule, line, message in check_file(where, text):
            if not exceptions.allow(rule, where):
                faults.append(f"{where}:{line}: {message}")
    for folder in sorted(path for path in (root / "src").rglob("*") if path.is_dir()):
        where = folder.relative_to(root)
        sources = sum(file.suffix == ".cc" and not is_test(file.relative_to(root)) for file in folder.iterdir())
        if sources > SOURCES and not exceptions.allow("folder", where):
            faults.append(f"{where}: {sources} sources, at most {SOURCES} in a folder")
    faults += exceptions.leftovers()
    return faults, f"{files} files, the longest function has {longest} lines"


if __name__ == "__main__":
    sys.exit(report(*check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())))
