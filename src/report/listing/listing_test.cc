#include "report/listing/listing.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/grid.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Listing jobs() {
  return {
      .name = "jobs",
      .columns = {{"id", "id", ColumnKind::Count},
                  {.title = "name", .field = "name", .least = 8},
                  {.title = "user", .field = "user", .drop_rank = 1},
                  {"ran", "ran_s", ColumnKind::Seconds},
                  {.title = "memory", .field = "bytes", .kind = ColumnKind::Bytes, .wide = true}},
      .rows = {{{"id", 9},
                {"name", "train, \"big\""},
                {"user", "ann"},
                {"ran_s", 3.7},
                {"bytes", std::int64_t{3} << 29},
                {"nodes", {"n1", "n2"}}},
               {{"id", 10},
                {"name", "a-name-that-is-longer-than-some-terminals"},
                {"user", "bob"},
                {"ran_s", nullptr},
                {"bytes", std::int64_t{1} << 30},
                {"nodes", Json::array()}},
               {{"id", 11},
                {"name", "x\x1b[2J"},
                {"user", "ann"},
                {"ran_s", 187445},
                {"bytes", 0},
                {"nodes", {"n3"}}}},
      .none = "no jobs\n",
      .summary = "3 jobs\n"};
}

std::string text(const ListArguments& arguments, int width = 0) {
  const auto made = to_text(jobs(), arguments, width);
  return made.ok() ? made.value() : "refused: " + made.error().message;
}

TEST(Listing, ATableHasOneUnitAColumn) {
  EXPECT_EQ(text({}),
            "id  name                                       user         ran\n"
            " 9  train, \"big\"                               ann         0:03\n"
            "10  a-name-that-is-longer-than-some-terminals  bob            -\n"
            "11  x?[2J                                      ann   2-04:04:05\n"
            "3 jobs\n");
  const std::string wide = text({.output = "wide"}, 20);
  for (const char* cell : {"1.5G\n", "1.0G\n", "0.0G\n"}) {
    EXPECT_NE(wide.find(cell), std::string::npos) << cell << '\n' << wide;
  }
}

TEST(Listing, ANarrowTerminalCutsTextsThenLeavesColumnsOut) {
  for (const int width : {40, 50, 60}) {
    std::istringstream lines(text({}, width));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(columns_of(line), static_cast<std::size_t>(width)) << line;
    }
  }
  EXPECT_NE(text({}, 50).find("user"), std::string::npos);
  Listing long_user = jobs();
  long_user.rows[0]["user"] = std::string(40, 'u');
  const std::string table = to_text(long_user, {}, 50).value();
  EXPECT_EQ(table.find("user"), std::string::npos) << table;
}

TEST(Listing, JsonCsvAndTemplatesAreNeverCut) {
  EXPECT_TRUE(text({.json = true}, 40).starts_with("{\"jobs\":[{\"id\":9,\"name\":\"train, "));
  EXPECT_EQ(text({.output = "json"}), text({.json = true}));
  EXPECT_EQ(text({.output = "csv"}, 40),
            "id,name,user,ran_s,bytes,nodes\n"
            "9,\"train, \"\"big\"\"\",ann,3.7,1610612736,n1; n2\n"
            "10,a-name-that-is-longer-than-some-terminals,bob,,1073741824,\n"
            "11,x?[2J,ann,187445,0,n3\n");
  EXPECT_EQ(text({.output = "template={{id}}\\t{{nodes}} of {{user}}"}, 40),
            "9\tn1,n2 of ann\n10\t of bob\n11\tn3 of ann\n");
}

TEST(Listing, WithoutRowsFormsForScriptsKeepTheirHeads) {
  Listing none = jobs();
  none.fields = fields_of(none.rows[0]);
  none.rows.clear();
  EXPECT_EQ(to_text(none, {}, 80).value(), "no jobs\n3 jobs\n");
  EXPECT_EQ(to_text(none, {.json = true}, 80).value(), "{\"jobs\":[]}\n");
  EXPECT_EQ(to_text(none, {.output = "csv"}, 80).value(), "id,name,user,ran_s,bytes,nodes\n");
  EXPECT_EQ(to_text(none, {.output = "template={{id}}"}, 80).value(), "");
  EXPECT_FALSE(to_text(none, {.output = "template={{ids}}"}, 80).ok());
}

TEST(Listing, RowsAreSortedByTitleOrFieldAndMissingValuesComeLast) {
  const auto ids = [](const char* sort) {
    return text({.output = "template={{id}}", .sort = sort});
  };
  EXPECT_EQ(ids("-id"), "11\n10\n9\n");
  EXPECT_EQ(ids("ran"), "9\n11\n10\n");
  EXPECT_EQ(ids("-ran_s"), "11\n9\n10\n");
  EXPECT_EQ(ids("user,-id"), "11\n9\n10\n");
  EXPECT_EQ(ids("usr"),
            "refused: --sort: there is no 'usr'; did you mean user? There are id, name, user, "
            "ran_s, bytes, nodes");
}

TEST(Listing, WrongWordsAreRefusedWithWhatToWrite) {
  const std::pair<ListArguments, const char*> wrong[] = {
      {{.output = "yaml"}, "write table, wide, json, csv or template='{{FIELD}} ...'"},
      {{.output = "csv", .json = true}, "leave out one"},
      {{.output = "template={{id"}, "write {{FIELD}}"},
      {{.output = "template={{idd}}"}, "did you mean id?"}};
  for (const auto& [arguments, said] : wrong) {
    EXPECT_NE(text(arguments).find(said), std::string::npos) << text(arguments);
  }
}

TEST(Listing, TimesHaveTheirUnitsBelowEachOther) {
  EXPECT_EQ(clock_text(-3), "0:00");
  EXPECT_EQ(clock_text(59.9), "0:59");
  EXPECT_EQ(clock_text(725), "12:05");
  EXPECT_EQ(clock_text(11227), "3:07:07");
  EXPECT_EQ(clock_text(187445), "2-04:04:05");
}

TEST(Listing, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(fitted("a\x1b[2Jb\n", 10), "a?[2Jb?");
  EXPECT_EQ(fitted("äöüß", 3), "äö…");
  EXPECT_EQ(fitted("äöü", 3), "äöü");
  EXPECT_EQ(fitted("abc", 0), "");
  EXPECT_EQ(fitted("x\u202egpj.sh", 20), "x?gpj.sh");
}

}  // namespace
}  // namespace orrery
