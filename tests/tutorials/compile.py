"""compile.py COMPILER: does the code of docs/tutorials compile?

Every block of C++ that begins with an #include is a file, and is compiled without output. Blocks
without one are lines that the reader adds to headers: their declarations stand before the code of
each file.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)
DECLARATION = re.compile(r"^(?:extern|std::unique_ptr)\b[^{}]*;$", re.MULTILINE)
NAME = re.compile(r"(\w+)(?:\([^()]*\))?;$")
INCLUDES = re.compile(r"\A(?:#include [^\n]+\n|\n)*")


def files(text):
    """Yields (line, code) of every file that the tutorial shows."""
    blocks = [(text.count("\n", 0, match.start()) + 2, match[1]) for match in BLOCK.finditer(text)]
    added = [line for _, code in blocks if not code.startswith("#include") for line in DECLARATION.findall(code)]
    for line, code in blocks:
        if code.startswith("#include"):
            end = INCLUDES.match(code).end()
            used = [one for one in added if re.search(rf"\b{NAME.search(one)[1]}\b", code)]
            yield line, code[:end] + "\n".join(["namespace orrery {", *used, "}\n"]) + code[end:]


def compile_one(compiler, where, code):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/src", f"-I{ROOT}/fuzz"]
    run = subprocess.run([*command, "-x", "c++", "-"], input=code, capture_output=True, text=True, check=False)
    return f"{where}: does not compile\n{run.stderr}" if run.returncode else ""


def main():
    tutorials = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    found = [(f"{path.name}:{line}", code) for path in tutorials for line, code in files(path.read_text())]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(lambda one: compile_one(sys.argv[1], *one), found) if fault]
    print("\n".join(faults) or f"{len(found)} files of {len(tutorials)} tutorials compile")
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main())
