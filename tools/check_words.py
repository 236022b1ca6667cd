"""check_words.py [--count] [ROOT [FOLDER...]]: is everything written in plain words?

Finds retired words in identifiers, comments, strings, documents and file names, prose lines of
documents over 100 characters, and headings that are questions. Without FOLDER, all of ROOT is read.
`--count` prints one line a folder. What may keep a word stands in tools/exceptions.txt:
`word PATH WORD DATE reason`. Code spans of CHANGELOG.md and docs/decisions/ may name what was renamed.
"""
import argparse
import bisect
import collections
import pathlib
import re
import sys

from cpp_text import NOT_CODE, report

LINE = 100  # characters of a prose line in a document
CPP = (".h", ".cc")
TEXT = (".py", ".sh", ".proto", ".cmake", ".toml", ".md", ".txt", ".js", ".css", ".html", "")
TOP = ("src", "apps", "tests", "bench", "fuzz", "clients", "docs", "tools", "cmake", "proto", "examples", "data", "packaging")
TOP_FILES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "Makefile", "CMakeLists.txt")
# The gate and its test must spell the words they look for.
NOT_READ = ("tools/check_words.py", "tools/check_words_test.py")
HISTORY = ("CHANGELOG.md", "docs/decisions/")

# Retired everywhere, also as a part of an identifier: (the words, what to write instead).
RETIRED = (
    ("anew", "again, or the verb: rebuild, replan, retry"),
    ("whom whoever whomever nobody somebody everybody anybody", "the job that, any worker that, no node, each user"),
    ("tell tells telling told untold", "report, send, say; last reported"),
    ("foresee foresees foreseeing foreseen foresaw foretell foretells foretold", "predict, predicted, forecast"),
    ("door doors", "Unix socket"),
    ("hinder hinders hindered hindrance hindrances", "emulate, straggler script, slowdown"),
    ("steer steers steered steering", "mode selection, select, control"),
    ("homeless", "unplaced"),
    ("hungry hungrier hungriest", "below fastest"),
    ("guest guests", "request"),
    ("stir stirs stirred", "rank may change"),
    ("rung rungs", "GPU option"),
    ("ladder ladders", "scaling curve"),
    ("dear dearer dearest", "promise cost, over budget"),
    ("hope hopes hoped", "optimistic factor; expect"),
    ("modest modestly", "minimum share; small"),
    ("heed heeds heeded", "apply_report, follow"),
    ("pay pays owe owes owed giver givers", "cost; send, pending, source, donor"),
    ("bargain bargains", "grant decision"),
    ("wish wishes wished", "request"),
    ("squeeze squeezes squeezed", "has lent"),
    ("suffering", "slowdown cost"),
    ("crowd crowds crowded", "membership"),
    ("band bands", "harness"),
    ("clockwork", "timed harness"),
    ("surroundings", "command context"),
    ("seating seatings", "device assignment"),
    ("trial trials", "experiment, run"),
)
# Retired as a word of an identifier only: these words have plain uses in prose.
IDENTIFIERS = (
    (r"near_?|Near", "client"),
    (r"ahead_?|ahead_\w+|Ahead|Ahead[A-Z][a-z]+", "forecast"),
    (r"(?:\w+_)?saw_?", "on_iteration"),
    (r"(?:\w+_)?redo(?:_\w*)?|Redo", "apply_external"),
    (r"become|become_\w+|cannot_become", "exec_sibling"),
    (r"(?:\w+_)?aside_?|kAside|Aside", "detached"),
    (r"(?:\w+_)?turns?_?|Turns?|turns_\w+|rotate_turn\w*", "round, time slice"),
)
# Patterns in comments, strings and documents.
PHRASES = (
    (r"once\s+more", "again; the verb: retry, rebuild, repeat"),
    (r"so\s+many", "the number, or 'that many'"),
    (r"(?:hold|holds|held|holding)\s+back", "hold"),
    (r"(?:let|lets|letting)\s+in(?!\s+(?:a|the|by)\s)", "release, admit"),
    (r"(?:a|an|its|their|one|another|every|each|next|whose|take|takes|taking|took|in|by)\s+turns?", "round, time slice"),
    (r"(?:everyone|someone|anyone)", "each user, a user, any user"),
)
ROOM_PHRASES = (
    r"(?:no|more|enough|little|much|finds?|found|makes?|made|making|leaves?)\s+room\b|room\s+for\b|makers?\s+of\s+room\b"
)
CAPACITY = "capacity, free GPUs, 'fits' ('room' is a folder only)"
# In these folders only: elsewhere the words are the field's own.
LOCAL = (
    (r"^(?:src/scheduling|docs/systems/deadlines)", "pin pins", "fixed placements"),
    (r"^(?:src/scheduling|docs/systems/deadlines)", "price prices priced", "promise cost"),
    (r"^(?:src|apps|tests|bench|fuzz|clients)/.*\.(?:h|cc)$", "room rooms", CAPACITY),
)
PEOPLE = (
    "people|persons?|users?|readers?|researchers?|engineers?|owners?|operators?|administrators?|attackers?|"
    "thief|person|newcomers?|strangers?|authors?|tenants?|anyone|someone|those|he|she|they"
)
WHO = re.compile(r"(?<!\w)who(?!\w)", re.IGNORECASE)
PERSON_WHO = re.compile(rf"\b(?:{PEOPLE})[`*]*,?\s+$", re.IGNORECASE)
WHO_INSTEAD = "the job that, any worker that ('who' only right after a word for people)"
QUESTION = re.compile(r"(?:What|How|Who|Why|Where|When|Which|Whether|Whom|Whose)\b.*|.*\?$")
OPENING = re.compile(r"(?:Who|Whom|Whoever|Whether)\b")

WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
WHO_AM_I = re.compile(r"who_?am_?i\w*", re.IGNORECASE)


def table(entries):
    return {word: instead for words, instead in entries for word in words.split()}


RETIRED_WORDS = table(RETIRED)
IDENTIFIER_RULES = [(re.compile(f"(?:{pattern})$"), instead) for pattern, instead in IDENTIFIERS]
PHRASE_RULES = [(re.compile(rf"\b{pattern}\b", re.IGNORECASE), instead) for pattern, instead in PHRASES]
ROOM_RULE = re.compile(rf"\b(?:{ROOM_PHRASES})", re.IGNORECASE)


def layers(text):
    """(code, comments, strings) of C++, each as long as the text: the rest of each is a filler."""
    code, comments, strings = list(text), ["\0"] * len(text), ["\0"] * len(text)
    for index, character in enumerate(text):
        if character.isspace():
            comments[index] = strings[index] = character
    for match in NOT_CODE.finditer(text):
        found, start = match.group(), match.start()
        comment = found.startswith(("//", "/*"))
        target = comments if comment else strings
        for offset, character in enumerate(found):
            code[start + offset] = "\n" if character == "\n" else " "
            if comment and offset < 3 and character in "/*!<":
                target[start + offset] = " "
            else:
                target[start + offset] = character
    return "".join(code), "".join(comments), "".join(strings)


def local_words(where):
    return table([(words, instead) for path, words, instead in LOCAL if re.search(path, where)])


def words_in(text, banned):
    """Yields (offset, word, instead) of every retired word, parts of identifiers included."""
    for match in WORD.finditer(text):
        for part in PART.finditer(match.group()):
            word = part.group().lower()
            if word in banned:
                yield match.start() + part.start(), word, banned[word]
            elif word == "who" and not WHO_AM_I.match(match.group()[part.start() :]):
                before = text[max(0, match.start() - 40) : match.start()]
                if part.group() != match.group() or not PERSON_WHO.search(before):
                    yield match.start() + part.start(), "who", WHO_INSTEAD


def identifiers_in(code):
    for match in WORD.finditer(code):
        for rule, instead in IDENTIFIER_RULES:
            if rule.match(match.group()):
                yield match.start(), match.group(), instead


def phrases_in(text, room=True):
    for rule, instead in PHRASE_RULES:
        for match in rule.finditer(text):
            yield match.start(), " ".join(match.group().lower().split()), instead
    if room:
        for match in ROOM_RULE.finditer(text):
            yield match.start(), " ".join(match.group().lower().split()), CAPACITY


def openings_in(text, pattern):
    for match in re.finditer(pattern, text, re.MULTILINE):
        if opening := OPENING.match(match["first"]):
            yield match.start("first"), f"a comment that begins with '{opening.group()}'", "True if ..., The job that ..."


def in_cpp(text, banned):
    code, comments, strings = layers(text)
    yield from words_in(code, banned)
    yield from identifiers_in(code)
    for prose in (comments, strings):
        yield from words_in(prose, banned)
        yield from phrases_in(prose, room=False)
    yield from openings_in(text, r'^[^\n"]*?//+ *(?P<first>\w+)')


def blanked(pattern, text, flags=0):
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", "\0", match.group()), text, flags=flags)


def in_document(where, text, banned):
    prose = text
    if where.startswith(HISTORY):
        prose = blanked(r"`[^`\n]+`", text)
    yield from words_in(prose, banned)
    yield from phrases_in(re.sub(r"[*_>|#]", " ", prose))
    fenced, offset = False, 0
    for line in text.splitlines(keepends=True):
        plain = line.rstrip("\n")
        if plain.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            if len(plain) > LINE and not plain.startswith(("|", "![")) and not re.match(r"\s*\S*\]\(\S+\)\S*$|\S+$", plain):
                yield offset, f"{len(plain)} characters", f"at most {LINE} in a line of prose"
            if (heading := re.match(r"#+ +(.*)", plain)) and QUESTION.match(heading[1]):
                yield offset, f"heading '{heading[1]}'", "a noun phrase that can be searched for"
        offset += len(line)


def in_text(where, text, banned):
    yield from words_in(text, banned)
    yield from phrases_in(text, room=not where.startswith(("tools/", "cmake/")))
    yield from openings_in(text, r'(?:"""|^\s*# +)(?P<first>\w+)')


def faults_of(where, text):
    """Yields (line, word, instead)."""
    banned = {**RETIRED_WORDS, **local_words(where)}
    for offset, word, instead in words_in(where, RETIRED_WORDS):
        yield 1, f"{word} (in the path)", instead
    if where.endswith(CPP):
        found = in_cpp(text, banned)
    elif where.endswith(".md"):
        found = in_document(where, text, banned)
    else:
        if where == "tools/exceptions.txt":
            text = blanked(r"^word .*", text, re.MULTILINE)
        found = in_text(where, text, banned)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for offset, word, instead in sorted(set(found)):
        yield bisect.bisect_right(starts, offset), word, instead


def files(root, folders):
    tops = [root / name for name in TOP_FILES] + [root / name for name in TOP]
    for top in tops:
        for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
            where = file.relative_to(root).as_posix()
            if folders and not any(where == folder or where.startswith(folder + "/") for folder in folders):
                continue
            if file.suffix in CPP + TEXT and file.is_file() and where not in NOT_READ and "__pycache__" not in where:
                yield where, file


def granted(root):
    """({(path, word): line}, faults) of tools/exceptions.txt."""
    entries, faults, path = {}, [], root / "tools/exceptions.txt"
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if line.startswith("word "):
            parts = line.split(maxsplit=4)
            if len(parts) < 5 or not re.fullmatch(r"\d{4}-\d\d-\d\d", parts[3]):
                faults.append(f"tools/exceptions.txt:{number}: write 'word PATH WORD DATE reason'")
            else:
                entries[parts[1], parts[2]] = number
    return entries, faults


def found(root, folders=()):
    """({(where, line, word, instead)}, faults of the exceptions)."""
    exceptions, faults = granted(root)
    used, everything = set(), []
    for where, file in files(root, folders):
        for line, word, instead in faults_of(where, file.read_text(errors="replace")):
            if (where, word) in exceptions:
                used.add((where, word))
            else:
                everything.append((where, line, word, instead))
    if not folders:
        faults += [
            f"tools/exceptions.txt:{number}: 'word {key[0]} {key[1]}' is not needed any more"
            for key, number in exceptions.items()
            if key not in used
        ]
    return everything, faults


def check(root, folders=()):
    everything, faults = found(root, folders)
    faults = [f"{where}:{line}: {word}: write {instead}" for where, line, word, instead in everything] + faults
    return faults, "no retired word, no long line of prose, no question as a heading"


def folder_of(where):
    parts = where.split("/")[:-1]
    return "/".join(parts[: 3 if parts[:1] == ["src"] else 2]) or "."


def kind(word):
    """The word under which a finding is counted."""
    if word.endswith(" characters"):
        return "long line"
    return word.split(" '")[0] if word.startswith(("heading", "a comment")) else word


def print_counts(everything):
    counts = collections.defaultdict(collections.Counter)
    for where, _, word, _ in everything:
        counts[folder_of(where)][kind(word)] += 1
    for folder, words in sorted(counts.items()):
        most = ", ".join(f"{word} {count}" for word, count in words.most_common(6))
        print(f"{sum(words.values()):6} {folder:34} {most}")
    print(f"{len(everything):6} in all")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("root", nargs="?", default=".")
    arguments.add_argument("folders", nargs="*", help="paths below ROOT")
    arguments.add_argument("--count", action="store_true", help="print how many there are in each folder")
    asked = arguments.parse_args()
    root = pathlib.Path(asked.root).resolve()
    folders = [folder.strip("/") for folder in asked.folders]
    if asked.count:
        print_counts(found(root, folders)[0])
        return 0
    return report(*check(root, folders))


if __name__ == "__main__":
    sys.exit(main())
