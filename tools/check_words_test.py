"""check_words.py finds each kind of retired wording, names its place, and accepts plain words."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import check_words

CLEAN = {
    "src/live/rpc/call.h": "#pragma once\n// True if the user who asked may see it. whoami, who_am_i.\nint bandwidth, whoami();\n",
    "src/model/job.h": "// The nearest of them. Turns text into a number; ahead of the end it becomes 3.\n"
    "int near_end, look_ahead, turn_away, becomes, share, pins, prices;\n",
    "docs/page.md": "# Adding nodes\n\n![" + "z" * 120 + "](a b.png)\n\n**People** who read this set a line aside. A folder is a room.\n\n"
    "```\n" + "x" * 120 + "\n```\n\n| " + "y" * 120 + " |\n",
    "docs/decisions/001-old.md": "# Renames\n\n`MakersOfRoom` is `PreemptionCandidates`.\n",
    "tools/run.py": '"""No room may include it."""\n',
}


class Words(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path, text in CLEAN.items():
            self.write(path, text)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def faults(self, *folders):
        return check_words.check(self.root, folders)[0]

    def assert_fault(self, *parts):
        faults = self.faults()
        self.assertEqual(len(faults), 1, faults)
        for part in parts:
            self.assertIn(part, faults[0])

    def test_plain_words_have_no_faults(self):
        self.assertEqual(self.faults(), [])

    def test_every_retired_word_is_found_in_code_comments_strings_and_documents(self):
        for word, instead in check_words.RETIRED_WORDS.items():
            for path, text in (
                ("src/model/a.h", f"\nint {word}_count;\n"),
                ("src/model/a.h", f"\nclass A{word.capitalize()}Map;\n"),
                ("src/model/a.h", f"\n/* so\n{word}. */\n"),
                ("src/model/a.h", f'\nauto a = "it is {word} now";\n'),
                ("docs/a.md", f"\nIt is {word} now.\n"),
                ("Makefile", f"\nall: # {word}\n"),
            ):
                with self.subTest(text=text):
                    self.write(path, text)
                    self.assert_fault(f"{path}:{3 if '/*' in text else 2}: {word}: write {instead}")
                    self.write(path, "")

    def test_identifiers_are_found_but_not_the_same_words_in_prose(self):
        for name in (
            "near", "near_", "Near", "ahead", "AheadOptions", "saw", "last_saw", "redo", "redo_all", "become_job",
            "put_aside", "kAside", "turn", "turns_", "in_turns", "take_turns",
        ):  # fmt: skip
            with self.subTest(name):
                self.write("src/model/a.cc", f"int {name};\n")
                self.assert_fault("src/model/a.cc:1", name)
        self.write("src/model/a.cc", "// It saw one near the end, ahead of the turn; they become one.\n")
        self.assertEqual(self.faults(), [])

    def test_phrases_are_found_also_over_two_lines(self):
        for text in (
            "// once\n  // more", "// so many", "// it holds back a job", "// take turns", "// In turn it", "// someone",
            'a("once more");', "/* let in */",
        ):  # fmt: skip
            with self.subTest(text):
                self.write("src/model/a.cc", text + "\n")
                self.assert_fault("src/model/a.cc:1")
        self.write("src/model/a.cc", "int once; int more;\n// so\nint a;  // many\n")
        self.assertEqual(self.faults(), [])

    def test_who_is_for_people(self):
        self.write("docs/a.md", "Workers who straggle.\n")
        self.assert_fault("docs/a.md:1: who")
        self.write("docs/a.md", "Researchers who straggle.\n")
        self.assertEqual(self.faults(), [])
        self.write("src/model/a_test.cc", "TEST(Las, WhoWaitsRuns) {}\n")
        self.write("docs/a.md", "")
        self.assert_fault("src/model/a_test.cc:1: who")

    def test_a_comment_does_not_begin_with_a_question_word(self):
        for text in ("// Whether it ends.", "int a;  // Whether it ends.", "/// Whether\n"):
            with self.subTest(text):
                self.write("src/model/a.h", text + "\n")
                self.assert_fault("src/model/a.h:1: a comment that begins with 'Whether'")
        self.write("src/model/a.h", "// It says whether it ends.\n")
        self.write("tools/a.py", '"""Whether it ends."""\n')
        self.assert_fault("tools/a.py:1")

    def test_room_is_a_folder_only(self):
        for path, text in (
            ("src/model/a.cc", "int room_left;\n"),
            ("src/model/a.cc", "// the room that is left\n"),
            ("docs/a.md", "There is no\nroom left.\n"),
            ("docs/a.md", "The makers of room.\n"),
            ("docs/a.md", "Enough room for two.\n"),
        ):
            with self.subTest(text):
                self.write(path, text)
                self.assertTrue(any(f"{path}:1" in fault and "capacity" in fault for fault in self.faults()))
                self.write(path, "")

    def test_pins_and_prices_are_retired_where_policies_are(self):
        self.write("src/scheduling/policy/a.h", "class Pins;\n")
        self.assert_fault("src/scheduling/policy/a.h:1: pins: write fixed placements")

    def test_a_file_name_is_read_too(self):
        self.write("src/live/rpc/front_door.cc", "")
        self.assert_fault("src/live/rpc/front_door.cc:1: door (in the path)")

    def test_long_lines_of_prose_are_found(self):
        self.write("docs/a.md", "ü " * 50 + "\n" + "word " * 21 + "\n")
        self.assert_fault("docs/a.md:2: 105 characters")

    def test_headings_that_ask_are_found(self):
        for heading in ("What comes and goes", "How it works", "Is it fast?"):
            with self.subTest(heading):
                self.write("docs/a.md", f"## {heading}\n")
                self.assert_fault("docs/a.md:1: heading")

    def test_code_spans_may_name_old_words_in_the_history_only(self):
        self.write("CHANGELOG.md", "`dearest` is `over-budget`.\n")
        self.assertEqual(self.faults(), [])
        self.write("docs/a.md", "`dearest` is `over-budget`.\n")
        self.assert_fault("docs/a.md:1: dearest")

    def test_an_exception_is_for_one_word_in_one_file_and_must_be_needed(self):
        self.write("docs/a.md", "The door told.\n")
        self.write("tools/exceptions.txt", "word docs/a.md door 2026-11-19 made for this test\n")
        self.assert_fault("docs/a.md:1: told")
        self.write("docs/a.md", "\n")
        self.assert_fault("exceptions.txt:1", "not needed any more")
        self.write("tools/exceptions.txt", "word docs/a.md door no date\n")
        self.assert_fault("exceptions.txt:1", "DATE reason")

    def test_folders_and_counts(self):
        self.write("src/live/rpc/a.cc", "int door, told;\n")
        self.write("src/model/a.cc", "int told;\n")
        self.assertEqual(len(self.faults("src/live")), 2)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            check_words.print_counts(check_words.found(self.root)[0])
        self.assertIn("2 src/live/rpc ", output.getvalue())
        self.assertIn("3 in all", output.getvalue())


if __name__ == "__main__":
    unittest.main()
