"""check_classes.py [ROOT] [--most N]: has every class in src/ few enough fields and methods to hold one idea?

Counts what a class declares itself, over all its files: fields without static constants, methods
without constructors, destructors and operators; an overload counts. Nested types count as classes of
their own. tools/exceptions.txt names larger ones: `class PATH DATE reason`. --most N prints the N
largest instead of checking.
"""
import argparse
import pathlib
import re
import sys

from cpp_text import Exceptions, code_only, is_test, line_of, report

FIELDS = 20
METHODS = 40
RULES = ("class",)
HEAD = re.compile(
    r"\b(?<!enum )(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?(?:alignas\([^)]*\)\s*)?"
    r"(?P<name>\w+)\s*(?:final\s*)?(?::(?!:)[^;{()]*(?:\([^)]*\)[^;{()]*)*)?\{"
)
NO_MEMBER = re.compile(r"(?:using|typedef|friend|static_assert|template\s*<[^;{]*>\s*friend|enum)\b")


def closing(code, start):
    """Where the bracket closes that opens at `start`."""
    depth = 0
    for offset in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[offset], 0)
        if depth == 0:
            return offset
    return len(code)


def members(body):
    """Each declaration of a class's body without what stands in braces; nested types are left out."""
    text, offset = "", 0
    while offset < len(body):
        char = body[offset]
        if char == "{":
            after = closing(body, offset) + 1
            text += "{}"
            rest = body[after:].lstrip()
            # What follows an initialiser goes on; a function's body ends the declaration.
            if "(" in outside_angles(text) and not rest.startswith((";", ",", ")", "{")):
                yield text
                text = ""
            offset = after
            continue
        if char == ";":
            yield text
            text = ""
        else:
            text += char
        offset += 1


def outside_angles(text):
    """The text without template arguments."""
    before = None
    text = re.sub(r"->|<=>|<<|>>=|<=|>=", " ", text.replace(">>", "> >"))
    while before != text:
        before, text = text, re.sub(r"<[^<>]*>", "", text)
    return text


def count(name, body):
    """(fields, methods) of a class."""
    fields = methods = 0
    for member in members(body):
        member = re.sub(r"\[\[[^\]]*\]\]|\b(?:public|private|protected)\s*:(?!:)", " ", member).strip()
        if not member or NO_MEMBER.match(member) or re.match(r"(?:class|struct|union)\s+\w+\s*(?:$|[^;]*\{\})", member):
            continue
        member = re.sub(r"^template\s*", "", outside_angles(member)).strip()
        head = re.split(r"=(?!=)|\{\}", member, maxsplit=1)[0]
        if re.search(r"\boperator\b", head) or re.match(rf"(?:explicit\s+|constexpr\s+|virtual\s+)*~?{name}\s*\(", head):
            continue
        if "(" in head:
            methods += 1
        elif not re.match(r"(?:inline\s+)?(?:static\s+constexpr|constexpr\s+static|static\s+const)\b", head):
            fields += 1 + outside_brackets(member).count(",")
    return fields, methods


def outside_brackets(text):
    before = None
    while before != text:
        before, text = text, re.sub(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]", "", text)
    return text


def classes(code):
    """Yields (line, name, fields, methods) of every class that is defined in `code`."""
    for match in HEAD.finditer(code):
        start = match.end() - 1
        yield line_of(code, match.start()), match["name"], *count(match["name"], code[start + 1 : closing(code, start)])


def check(root):
    exceptions = Exceptions(root, RULES)
    faults = list(exceptions.faults)
    dates = {
        line.split()[1]: line.split()[2]
        for line in (root / "tools/exceptions.txt").read_text().splitlines()
        if line.startswith("class ") and len(line.split()) > 2
    } if (root / "tools/exceptions.txt").exists() else {}  # fmt: skip
    faults += [
        f"tools/exceptions.txt: 'class {path}' needs the date it was granted before its reason"
        for path, date in dates.items()
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", date)
    ]
    total = 0
    for where, line, name, fields, methods in sizes(root):
        total += 1
        if (fields > FIELDS or methods > METHODS) and not exceptions.allow("class", where):
            faults.append(
                f"{where}:{line}: {name} has {fields} fields and {methods} methods, at most {FIELDS} and {METHODS}"
            )
    faults += exceptions.leftovers()
    return faults, f"{total} classes, none over {FIELDS} fields or {METHODS} methods without an exception"


def sizes(root):
    for file in sorted((root / "src").rglob("*")):
        where = file.relative_to(root)
        if file.suffix in (".h", ".cc") and file.is_file() and not is_test(where):
            for line, name, fields, methods in classes(code_only(file.read_text(errors="replace"))):
                yield where, line, name, fields, methods


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("root", nargs="?", default=".")
    arguments.add_argument("--most", type=int)
    asked = arguments.parse_args()
    root = pathlib.Path(asked.root).resolve()
    if asked.most is None:
        return report(*check(root))
    largest = sorted(sizes(root), key=lambda entry: -max(entry[3] / FIELDS, entry[4] / METHODS))
    for where, line, name, fields, methods in largest[: asked.most]:
        print(f"{fields:4} fields {methods:4} methods  {name}  {where}:{line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
