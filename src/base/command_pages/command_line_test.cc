#include "base/command_pages/command_line.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace orrery {
namespace {

// A program with a command of commands, an argument, a flag and what is hidden.
class CommandPages : public testing::Test {
 protected:
  CommandPages() {
    app_.name("tool");
    CLI::App* cut = app_.add_subcommand("cut", "cuts; it's sharp");
    cut->add_option("--length,-l", length_, "of a piece")
        ->check(CLI::Range(1, 9))
        ->capture_default_str();
    cut->add_flag("--quiet", quiet_, "say nothing");
    cut->add_option("--secret", length_)->group("");
    cut->add_option("file", files_, ".what to cut\\")->required();
    CLI::App* store = app_.add_subcommand("store", "the store");
    store->add_subcommand("fill", "fills it");
    app_.add_subcommand("part", "a process")->group("");
    app_.add_subcommand("help", "help")->add_option("command", files_);
    program_ = read_command_line(app_);
  }

  const CommandLine& command(std::string_view name) const {
    for (const CommandLine* one : all_commands(program_)) {
      if (one->name == name) return *one;
    }
    throw std::runtime_error("no such command");
  }
  std::string page(std::string_view name) const {
    for (const auto& [file, text] : man_pages(program_)) {
      if (file == name) return text;
    }
    return "";
  }

  CLI::App app_{"A tool."};
  int length_ = 3;
  bool quiet_ = false;
  std::vector<std::string> files_{};
  CommandLine program_{};
};

using Names = std::vector<std::string>;

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST_F(CommandPages, HiddenCommandsAndOptionsAreLeftOut) {
  Names names;
  for (const CommandLine* one : all_commands(program_)) names.push_back(one->name);
  EXPECT_EQ(names, (Names{"tool", "tool cut", "tool store", "tool store fill", "tool help"}));
  EXPECT_EQ(option_names(command("tool cut")),
            (Names{"-h", "--help", "-l", "--length", "--quiet"}));
}

TEST_F(CommandPages, FlagsTakeNoValue) {
  EXPECT_EQ(option_names(command("tool cut"), true), (Names{"-l", "--length"}));
}

TEST_F(CommandPages, RangeAndDefaultArePartOfTheHelp) {
  EXPECT_EQ(command("tool cut").options[1].value, "INT");
  EXPECT_EQ(command("tool cut").options[1].help, "of a piece (INT in [1 - 9]) (default: 3)");
}

TEST_F(CommandPages, AnArgumentIsNoOption) {
  const CommandOption& file = command("tool cut").arguments.at(0);
  EXPECT_EQ(file.names, Names{"file"});
  EXPECT_TRUE(file.is_required);
  EXPECT_TRUE(file.is_repeatable);
}

TEST_F(CommandPages, EachCommandHasAPageAndThoseBelowItASection) {
  EXPECT_TRUE(has(page("tool.1"), "\\fBtool\\-cut\\fR(1)\ncuts; it's sharp\n"));
  EXPECT_TRUE(has(page("tool-cut.1"), ".TP\n\\fB\\-l\\fR, \\fB\\-\\-length\\fR \\fIINT\\fR\n"));
  EXPECT_TRUE(has(page("tool-cut.1"), ".B tool cut\n.RI [ OPTIONS ]\n.I file...\n"));
  EXPECT_TRUE(has(page("tool-store.1"), ".SH \"tool store fill\"\nfills it\n"));
  EXPECT_EQ(page("tool-part.1"), "");
}

TEST_F(CommandPages, NothingInATextIsARequestOfRoff) {
  EXPECT_TRUE(has(page("tool-cut.1"), "\n\\&.what to cut\\e\n")) << page("tool-cut.1");
}

TEST_F(CommandPages, CompletionNamesCommandsAndOptions) {
  const std::string bash = bash_completion(program_);
  EXPECT_TRUE(has(bash, "commands='cut store help'"));
  EXPECT_TRUE(has(bash, "options='-h --help -l --length --quiet'"));
  EXPECT_TRUE(has(bash, "values='-l --length'"));
  EXPECT_TRUE(has(zsh_completion(program_), R"('cut:cuts; it'\''s sharp')"));
  const std::string fish = fish_completion(program_);
  EXPECT_TRUE(has(fish, R"(-a 'cut' -d 'cuts; it\'s sharp')")) << fish;
  EXPECT_TRUE(has(fish, R"(_tool_line "tool cut"' -s l -l length -r -d)")) << fish;
}

TEST_F(CommandPages, HelpIsCompletedWithTheProgramsCommands) {
  EXPECT_TRUE(has(bash_completion(program_), "'tool help')\n      commands='cut store help'"));
}

}  // namespace
}  // namespace orrery
