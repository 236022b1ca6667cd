"""check_walks.py [ROOT]: do the walks of ARCHITECTURE.md follow the code, and do all links lead somewhere?

A walk is a section `### Walk N: ...` of steps. Its files are the paths `src/...` or `apps/...` in
code spans, in order. Every file must exist, and must include the file before it or be included by
it: a walk goes back by naming a file again. A header and the source of the same name are one file.

In every document each relative link must exist, each path in a code span that begins with a folder
of the repository, and for each `FOLDER/NAME.h`, `.cc` or `.py` a file that ends so. NAME in a path
is a placeholder. The changelog and the decisions may name files of their time. A tutorial may name
the files that its reader writes ("Write `PATH`", "into `PATH`").
"""
import pathlib
import re
import sys

from cpp_text import TOP_FOLDERS, report

WALKS = 4
STEPS = 4  # files of a walk, at least
PATH = re.compile(r"`((?:src|apps)/[\w/]+\.(?:h|cc))`")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
NAMED = re.compile(r"`((?:src|apps|tests|bench|fuzz|tools|docs|cmake|proto|clients|examples)/[\w./-]*)`")
SOURCE = re.compile(r"`([\w/]+\.(?:h|cc|py))`")
HISTORY = ("CHANGELOG.md", "docs/decisions/")
CREATED = re.compile(r"\b(?:[Ww]rite|into)\s+`([\w./]+)`")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def walks(text):
    """Yields (title, [(line, path)...]) of every walk."""
    title, steps, fenced = None, [], False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and re.match(r"#{1,3} ", line):
            if title:
                yield title, steps
            title, steps = (line[4:] if re.match(r"### Walk \d", line) else None), []
        elif title:
            steps += [(number, path) for path in PATH.findall(line)]
    if title:
        yield title, steps


def unit(path):
    """The path without its extension."""
    return path.rsplit(".", 1)[0]


def includes(root, path):
    """The files, without extensions, that the header and the source of this name include."""
    found = set()
    for ending in (".h", ".cc"):
        file = root / (unit(path) + ending)
        if file.is_file():
            found |= {"src/" + unit(name) for name in INCLUDE.findall(file.read_text())}
    return found


def joined(root, one, other):
    return unit(one) == unit(other) or unit(one) in includes(root, other) or unit(other) in includes(root, one)


def anchors(file):
    """The anchors of the headings of a document, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_ends(root):
    """Yields a fault for each link or path of a document that does not exist."""
    sources = {"/" + file.relative_to(root).as_posix() for top in TOP_FOLDERS + ("tools", "examples")
               for file in (root / top).rglob("*.*")}  # fmt: skip
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("src/*/README.md")]
    for file in sorted(documents):
        where = file.relative_to(root).as_posix()
        text = file.read_text()
        created = CREATED.findall(text) if where.startswith("docs/tutorials/") else []
        for number, line in enumerate(text.splitlines(), 1):
            for link, anchor in LINK.findall(line):
                target = file.parent / link if link else file
                if "://" in link:
                    continue
                if not target.exists():
                    yield f"{where}:{number}: the link {link} leads nowhere"
                elif anchor and anchor not in anchors(target):
                    yield f"{where}:{number}: {link} has no heading for #{anchor}"
            if where.startswith(HISTORY):
                continue
            lost = {path for path in NAMED.findall(line) if not (root / path).exists()}
            lost |= {name for name in SOURCE.findall(line) if not any(file.endswith("/" + name) for file in sources)}
            for path in sorted(path for path in lost if "NAME" not in path and path not in created):
                yield f"{where}:{number}: {path} does not exist"


def check(root):
    faults, files = list(dead_ends(root)), set()
    all_walks = list(walks((root / "ARCHITECTURE.md").read_text()))
    if len(all_walks) < WALKS:
        faults.append(f"ARCHITECTURE.md: {len(all_walks)} walks, at least {WALKS}")
    for title, steps in all_walks:
        if len({unit(path) for _, path in steps}) < STEPS:
            faults.append(f"ARCHITECTURE.md: {title}: fewer than {STEPS} files")
        before = None
        for line, path in steps:
            files.add(path)
            if before and (root / path).is_file() and not joined(root, before, path):
                faults.append(f"ARCHITECTURE.md:{line}: {path} and {before} before it do not include each other")
            before = path if (root / path).is_file() else None
    return faults, f"{len(all_walks)} walks over {len(files)} files, each joined to the one before; no dead link"


if __name__ == "__main__":
    sys.exit(report(*check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())))
