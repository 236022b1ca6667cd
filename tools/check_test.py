"""The checkers find a planted fault, name its place, and are content with a tree that has none."""
import pathlib
import re
import tempfile
import unittest

import check_classes
import check_rooms
import check_sizes
import check_walks
from cpp_text import code_only

ROOMS = {
    "base": 'room(base HOLDS "x" LIBS fmt::fmt)',
    "model": 'room(model HOLDS "x" NEEDS base)',
    "policy": 'room(policy HOLDS "x"\n  NEEDS model  # arrows\n  LIBS Threads::Threads\n'
    "  TEST_NEEDS workload\n  TEST_LIBS lemon)",
    "placement": 'room(placement HOLDS "x" NEEDS model)',
    "workload": 'room(workload HOLDS "x" NEEDS model)',
    "simulation": 'room(simulation HOLDS "x" NEEDS policy)',
    "commands": 'room(commands HOLDS "x" NEEDS workload simulation)',
}
FILES = {
    "src/base/result.h": "#pragma once\n",
    "src/model/job.h": '#pragma once\n#include "base/result.h"\n',
    "src/workload/trace.h": '#pragma once\n#include <nlohmann/json.hpp>\n#include "model/job.h"\n',
    "src/policy/las.h": '#pragma once\n#include "model/job.h"\n',
    "src/policy/las_test.cc": '#include <lemon/matching.h>\n#include "policy/las.h"\n'
    '#include "workload/trace.h"\n',
    "src/commands/run.cc": '#include <CLI/CLI.hpp>\n#include "policy/las.h"\n'
    "auto start = std::chrono::steady_clock::now();\nvoid f() { if (simulate->parsed()) g(); }\n",
}


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve() / "tests" / "orrery"
        for name, text in ROOMS.items():
            self.write(f"src/{name}/CMakeLists.txt", text)
        for path, text in FILES.items():
            self.write(path, text)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def assert_fault(self, checker, *parts):
        faults, _ = checker.check(self.root)
        self.assertEqual(len(faults), 1, faults)
        for part in parts:
            self.assertIn(part, faults[0])

    def assert_clean(self, checker):
        self.assertEqual(checker.check(self.root)[0], [])


class Rooms(Tree):
    def test_a_tree_that_keeps_the_rules_has_no_faults(self):
        self.assert_clean(check_rooms)

    def test_an_include_against_the_arrows_is_found(self):
        self.write("src/model/job.h", '#pragma once\n\n#include "policy/las.h"\n')
        self.assert_fault(check_rooms, "src/model/job.h:3", "model may not include policy")

    def test_rooms_in_storeys_keep_their_walls(self):
        self.write("src/scheduling/order/CMakeLists.txt", 'room(order HOLDS "x" NEEDS model)')
        self.write("src/scheduling/order/las/queue.h", '#pragma once\n#include "model/job.h"\n')
        self.assert_clean(check_rooms)
        self.write("src/scheduling/order/las/queue.h", '#pragma once\n#include "policy/las.h"\n')
        self.assert_fault(check_rooms, "src/scheduling/order/las/queue.h:2", "order may not include policy")

    def test_a_room_below_another_room_is_a_room_of_its_own(self):
        self.write("src/policy/published/CMakeLists.txt", 'room(published HOLDS "x" NEEDS policy)')
        self.write("src/policy/published/old.h", '#pragma once\n#include "policy/las.h"\n')
        self.assert_clean(check_rooms)
        self.write("src/policy/las.cc", '#include "policy/published/old.h"\n')
        self.assert_fault(check_rooms, "src/policy/las.cc:1", "policy may not include published")

    def test_sources_outside_every_room_are_found_at_any_depth(self):
        self.write("src/scheduling/order/CMakeLists.txt", 'room(order HOLDS "x" NEEDS model)')
        self.write("src/scheduling/lost.h", "#pragma once\n")
        self.assert_fault(check_rooms, "src/scheduling", "has no room(scheduling")

    def test_one_name_for_two_rooms_is_found(self):
        self.write("src/live/policy/CMakeLists.txt", 'room(policy HOLDS "x" NEEDS model)')
        faults, _ = check_rooms.check(self.root)
        self.assertTrue(any("room 'policy' is also in" in fault for fault in faults), faults)

    def test_walls_hold_in_nested_rooms(self):
        self.write("src/live/store_two/CMakeLists.txt", 'room(store_two HOLDS "x" NEEDS model)')
        self.write("src/live/store_two/deep/server.cc", "#include <sqlite3.h>\n")
        self.assert_fault(check_rooms, "src/live/store_two/deep/server.cc:1", "may include <sqlite3.h>")

    def test_an_arrow_reaches_through_other_rooms(self):
        self.write("src/commands/more.cc", '#include "base/result.h"\n')
        self.assert_clean(check_rooms)

    def test_what_only_tests_need_is_closed_to_the_room_itself(self):
        self.write("src/policy/las.cc", '#include "workload/trace.h"\n')
        self.assert_fault(check_rooms, "src/policy/las.cc:1", "policy may not include workload")

    def test_what_tests_share_counts_as_a_test(self):
        self.write("src/base/testing/oracle.cc", '#include <lemon/matching.h>\n')
        self.assert_clean(check_rooms)

    def test_tests_have_arrows_too(self):
        self.write("src/model/job_test.cc", '#include "simulation/clock.h"\n')
        self.write("src/simulation/clock.h", "#pragma once\n")
        self.assert_fault(check_rooms, "src/model/job_test.cc:1", "model may not include simulation")

    def test_a_quoted_include_of_nothing_is_found(self):
        self.write("src/policy/las.cc", '#include "las.h"\n')
        self.assert_fault(check_rooms, "src/policy/las.cc:1", '"las.h" is no file')

    def test_a_circle_is_printed(self):
        self.write("src/model/CMakeLists.txt", 'room(model HOLDS "x" NEEDS base policy)')
        self.assert_fault(check_rooms, "model -> policy -> model")

    def test_a_circle_of_storeys_is_found(self):
        self.write("src/live/api/CMakeLists.txt", 'room(api HOLDS "x" NEEDS model)')
        self.write("src/live/programs/CMakeLists.txt", 'room(programs HOLDS "x" NEEDS commands)')
        self.assert_clean(check_rooms)
        self.write("src/commands/CMakeLists.txt", 'room(commands HOLDS "x" NEEDS workload simulation api)')
        self.assert_fault(check_rooms, "storeys form a circle: commands -> live -> commands")

    def test_a_room_says_what_it_holds(self):
        self.write("src/placement/CMakeLists.txt", "room(placement NEEDS model)")
        faults, _ = check_rooms.check(self.root)
        self.assertTrue(any("does not say what it holds" in fault for fault in faults), faults)

    def test_a_thirteenth_storey_is_found(self):
        for number in range(6):
            self.write(f"src/more{number}/CMakeLists.txt", f'room(more{number} HOLDS "x" NEEDS model)')
        self.assert_fault(check_rooms, "13 folders, at most 12")

    def test_a_need_that_is_no_room_is_found(self):
        self.write("src/model/CMakeLists.txt", 'room(model HOLDS "x" NEEDS base magic)')
        self.assert_fault(check_rooms, "'magic', which is no room")

    def test_a_folder_without_a_room_is_found(self):
        self.write("src/attic/old.h", "#pragma once\n")
        self.assert_fault(check_rooms, "src/attic", "has no room(attic")

    def test_each_library_stays_behind_its_wall(self):
        for header, path in (
            ("CLI/CLI.hpp", "src/simulation/a.cc"),
            ("nlohmann/json.hpp", "src/policy/a.cc"),
            ("toml++/toml.h", "src/commands/a.cc"),
            ("zstd.h", "src/commands/a.cc"),
            ("lemon/matching.h", "src/policy/a.cc"),
            ("spawn.h", "src/simulation/a.cc"),
            ("sys/wait.h", "src/commands/a.cc"),
        ):
            with self.subTest(header):
                self.write(path, f"#include <{header}>\n")
                self.assert_fault(check_rooms, f"{path}:1", f"may include <{header}>")
                (self.root / path).unlink()

    def test_the_clock_and_chance_are_found_below_the_wall(self):
        for code in (
            "auto t = std::chrono::system_clock::now();",
            "auto t = steady_clock :: now();",
            "std::random_device seed;",
            "std::this_thread::sleep_for(1s);",
            "int i = rand();",
            "int i = std::rand();",
        ):
            with self.subTest(code):
                self.write("src/policy/a.cc", f"\n{code}\n")
                self.assert_fault(check_rooms, "src/policy/a.cc:2", "below the wall")

    def test_the_same_words_are_harmless_in_comments_strings_and_longer_names(self):
        self.write(
            "src/policy/a.cc",
            "// random_device, sleep_for\n/* steady_clock::now\n if (simulated) */\n"
            'auto a = "if (simulated) rand()"; auto b = R"x(sleep_for ")" )x";\n'
            "int c = operand(1'000'000) + grand(2);\nchar d = '\"'; int e = view.rand(3);\n",
        )
        self.assert_clean(check_rooms)

    def test_asking_whether_it_is_simulated_is_found(self):
        for code in ("if (!options.simulated)", "if (a &&\n (is_sim || b))", "while (simulating())"):
            with self.subTest(code):
                self.write("src/policy/a.cc", f"void f() {{\n{code} return;\n}}\n")
                self.assert_fault(check_rooms, "src/policy/a.cc:2", "asks whether it is simulated")
        self.write("src/policy/a.cc", "")
        self.write("src/simulation/a.cc", "void f() { if (simulated) return; }\n")
        self.assert_clean(check_rooms)

    def test_a_header_that_opens_a_namespace_is_found(self):
        self.write("src/model/job.h", "#pragma once\nusing namespace std;\n")
        self.assert_fault(check_rooms, "src/model/job.h:2", "using namespace")

    def test_an_exception_with_a_reason_is_honoured(self):
        self.write("src/policy/a.cc", "std::random_device seed;\n")
        self.write("tools/exceptions.txt", "# why\nbanned src/policy/a.cc made for this test\n")
        self.assert_clean(check_rooms)

    def test_an_exception_needs_a_reason_and_a_use(self):
        self.write("tools/exceptions.txt", "banned src/policy/a.cc\n")
        self.assert_fault(check_rooms, "exceptions.txt:1", "needs a reason")
        self.write("tools/exceptions.txt", "banned src/policy/a.cc once upon a time\n")
        self.assert_fault(check_rooms, "exceptions.txt:1", "not needed any more")


def body(lines):
    return "  work();\n" * lines


class Sizes(Tree):
    def test_a_tree_that_keeps_the_rules_has_no_faults(self):
        self.assert_clean(check_sizes)

    def test_a_long_line_is_found_and_counted_in_characters(self):
        self.write("src/model/a.cc", "\n// " + "ü" * 97 + "\n")
        self.assert_clean(check_sizes)
        self.write("src/model/a.cc", "\n// " + "u" * 98 + "\n")
        self.assert_fault(check_sizes, "src/model/a.cc:2", "101 characters")

    def test_long_files_are_found_each_kind_by_its_own_limit(self):
        for path, limit in (
            ("src/scheduling/policy/order/a.cc", 150),
            ("src/model/a.cc", 500),
            ("src/model/a.h", 120),
            ("src/policy/a.cc", 150),
            ("src/placement/a.cc", 150),
            ("src/policy/a_test.cc", 500),
            ("bench/a_bench.cc", 500),
        ):
            with self.subTest(path):
                self.write(path, "int a;\n" * limit)
                self.assert_clean(check_sizes)
                self.write(path, "int a;\n" * (limit + 1))
                self.assert_fault(check_sizes, f"{path}:{limit + 1}", f"at most {limit}")
                (self.root / path).unlink()

    def test_a_folder_with_too_many_sources_is_found(self):
        for number in range(30):
            self.write(f"src/model/a{number}.cc", "int a;\n")
            self.write(f"src/model/a{number}_test.cc", "int a;\n")
            self.write(f"src/model/a{number}.h", "int a;\n")
        self.assert_clean(check_sizes)
        self.write("src/model/one_more.cc", "int a;\n")
        self.assert_fault(check_sizes, "src/model: 31 sources", "at most 30")

    def test_a_long_function_is_found_whatever_stands_around_it(self):
        for opening, closing, first in (
            ("int f(int a) {\n", "}\n", 1),
            ("namespace orrery {\nnamespace {\n// {\nstatic void f() {\n", "}\n}\n}\n", 4),
            ("class A : public B {\n public:\n  A() : a_{1}, b_(2) {}\n  void f() const {\n", "}\n};\n", 4),
            ("template <class T>\nauto f(T a) -> decltype(a)\n  requires(sizeof(T) > 4) {\n", "}\n", 1),
            ("struct A {\n  int a = 0;\n} f() {\n", "}\n", 3),
            ("TEST(Las, PutsTheLeastServedFirst) {\n", "}\n", 1),
            ("#define BAD {\nint f() {\n  if (a) {\n", "  }\n}\n", 2),
        ):
            with self.subTest(opening):
                self.write("src/model/a.cc", opening + body(71) + closing)
                self.assert_fault(check_sizes, f"src/model/a.cc:{first}:", "at most 70")
                self.write("src/model/a.cc", opening + body(60) + closing)
                self.assert_clean(check_sizes)

    def test_what_is_long_but_no_function_is_left_alone(self):
        for opening, closing in (
            ("const std::vector<int> kTable = {\n", "};\n"),
            ("const auto kTable = make({\n", "});\n"),
            ("enum class Kind : int {\n", "};\n"),
            ("struct [[nodiscard(\"it\")]] alignas(8) A final : B<decltype(c())> {\n", "};\n"),
            ("namespace orrery {\n", "}\n"),
        ):
            with self.subTest(opening):
                self.write("src/model/a.cc", opening + "  1,\n" * 90 + closing)
                self.assert_clean(check_sizes)

    def test_a_note_to_oneself_is_found(self):
        self.write("src/model/a.cc", "// TO" + "DO: later\n")
        self.assert_fault(check_sizes, "src/model/a.cc:1", "open an issue")

    def test_an_exception_lifts_one_rule_for_one_file(self):
        self.write("src/policy/muri.cc", "int a;\n" * 160)
        self.write("tools/exceptions.txt", "decision src/policy/muri.cc two matchings, one idea\n")
        self.assert_clean(check_sizes)
        self.write("src/policy/themis.cc", "int a;\n" * 160)
        self.assert_fault(check_sizes, "src/policy/themis.cc:160")


class Walks(Tree):
    STEPS = ["src/commands/run.cc", "src/policy/las.h", "src/model/job.h", "src/base/result.h"]

    def write_walks(self, steps, count=4):
        body = "".join(f"1. `{step}` does.\n" for step in steps)
        text = "".join(f"### Walk {number}: a\n\n{body}" for number in range(count))
        self.write("ARCHITECTURE.md", "# Architecture\n\n`src/model`\n\n" + text + "## End\n\n`src/model/job.h`\n")

    def assert_walk_fault(self, *parts):
        faults, _ = check_walks.check(self.root)
        self.assertEqual(len(set(re.sub(r":\d+|Walk \d", "", fault) for fault in faults)), 1, faults)
        for part in parts:
            self.assertIn(part, faults[0])

    def test_files_that_include_their_neighbour_have_no_faults_in_either_direction(self):
        self.write_walks(self.STEPS)
        self.assert_clean(check_walks)
        self.write_walks(self.STEPS[::-1])
        self.assert_clean(check_walks)

    def test_a_header_and_its_source_are_one_file(self):
        self.write("src/policy/las.cc", '#include "policy/las.h"\n#include "workload/trace.h"\n')
        self.write_walks([*self.STEPS[:2], "src/policy/las.cc", "src/workload/trace.h", "src/model/job.h"])
        self.assert_clean(check_walks)

    def test_a_file_that_does_not_exist_is_found(self):
        self.write_walks([*self.STEPS, "src/base/gone.h"])
        self.assert_walk_fault("ARCHITECTURE.md:11", "src/base/gone.h does not exist")

    def test_files_in_another_order_than_their_includes_are_found(self):
        self.write_walks([self.STEPS[0], *self.STEPS[2:], "src/policy/las.h"])
        faults, _ = check_walks.check(self.root)
        self.assertEqual(len(faults), 8, faults)
        self.assertIn("src/model/job.h and src/commands/run.cc before it do not include each other", faults[0])

    def test_a_walk_goes_back_by_naming_a_file_again(self):
        self.write("src/model/other.h", '#include "model/job.h"\n')
        self.write_walks([*self.STEPS, "src/model/other.h"])
        self.assert_walk_fault("src/model/other.h and src/base/result.h")
        self.write_walks([*self.STEPS, "src/model/job.h", "src/model/other.h"])
        self.assert_clean(check_walks)

    def test_links_and_paths_that_lead_nowhere_are_found(self):
        self.write_walks(self.STEPS)
        self.write("docs/a.md", "[a](../ARCHITECTURE.md#end) [b](https://b.c/d) `src/model/job.h` `src/*/x` "
                   "`model/job.h` `las.h` `fuzz/NAME_fuzz.cc`\n")  # fmt: skip
        self.write("docs/decisions/1.md", "`src/model/gone.h`\n")
        self.assert_clean(check_walks)
        self.write("docs/a.md", "\n[a](b.md#c)\n")
        self.assert_fault(check_walks, "docs/a.md:2", "link b.md")
        self.write("docs/a.md", "[a](../ARCHITECTURE.md#the-end)\n")
        self.assert_fault(check_walks, "docs/a.md:1", "has no heading for #the-end")
        self.write("docs/a.md", "")
        self.write("docs/tutorials/b.md", "\nWrite\n`src/model/new.h`. Look at `src/model/new.h`.\n")
        self.assert_clean(check_walks)
        self.write("docs/tutorials/b.md", "\nLook at `src/model/new.h`.\n")
        self.assert_fault(check_walks, "docs/tutorials/b.md:2", "src/model/new.h does not exist")
        self.write("docs/tutorials/b.md", "")
        for path in ("src/model/gone.h", "src/gone", "model/gone.h", "gone.cc"):
            with self.subTest(path):
                self.write("docs/a.md", f"\nIn `{path}`.\n")
                self.assert_fault(check_walks, "docs/a.md:2", f"{path} does not exist")

    def test_too_few_walks_or_files_are_found(self):
        self.write_walks(self.STEPS, count=3)
        self.assert_walk_fault("3 walks, at least 4")
        self.write_walks(self.STEPS[:3])
        self.assert_walk_fault("fewer than 4 files")


class CodeOnly(unittest.TestCase):
    def test_lines_stay_where_they_were(self):
        text = 'a;\n/* 1\n2 */ b; // c \\\n still\nR"(\n"\n)"; d;\n'
        self.assertEqual(code_only(text).count("\n"), text.count("\n"))
        self.assertEqual(code_only(text).splitlines()[6].strip(), "; d;")


class Classes(Tree):
    def write_class(self, body, path="src/live/daemon/core.h"):
        self.write(path, "class Core final : private Sink<int> {\n" + body + "};\n")

    def counted(self, body):
        return next(check_classes.classes("struct Core : Base {" + body + "};"))[2:]

    def test_fields_and_methods_are_counted(self):
        self.assertEqual(
            self.counted(
                """
 public:
  explicit Core(int a);
  ~Core() override;
  bool operator==(const Core&) const = default;
  using Step = std::function<void(int)>;
  static constexpr int kMost = 3;
  enum class Kind { One, Two };
  struct Inner { int a; int b; void f() {} };
  int first() const { return map_.at(1); }
  virtual void second(int a = g()) = 0;
  template <class T> Result<std::vector<T>> third(T t) const { if (t) { h(); } return {}; }
 private:
  std::map<int, std::function<void(int)>> map_{};
  int a_ = f(1), b_[2] = {1, 2};
  std::atomic<bool> done_{false};
"""
            ),
            (4, 3),
        )

    def test_a_class_with_too_many_fields_or_methods_is_found(self):
        self.write_class("".join(f"  int f{n}_ = 0;\n" for n in range(20)))
        self.assert_clean(check_classes)
        self.write_class("".join(f"  int f{n}_ = 0;\n" for n in range(21)))
        self.assert_fault(check_classes, "src/live/daemon/core.h:1", "Core has 21 fields")
        self.write_class("".join(f"  int f{n}() const {{ return 0; }}\n" for n in range(41)))
        self.assert_fault(check_classes, "Core has 0 fields and 41 methods")

    def test_an_exception_needs_a_date(self):
        self.write_class("".join(f"  int f{n}_ = 0;\n" for n in range(21)))
        self.write("tools/exceptions.txt", "class src/live/daemon/core.h 2026-11-19 one table\n")
        self.assert_clean(check_classes)
        self.write("tools/exceptions.txt", "class src/live/daemon/core.h one table\n")
        self.assert_fault(check_classes, "needs the date")


if __name__ == "__main__":
    unittest.main()
