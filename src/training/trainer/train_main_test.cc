#include "training/trainer/train_main.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "training/trainer/test_run.h"

namespace orrery {
namespace {

// The options of a command that take a number, as its help lists them.
std::vector<std::string> number_options(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  words.push_back("--help");
  std::istringstream help(train(words, TestFolder().run()).output);
  std::vector<std::string> options;
  std::string line;
  while (std::getline(help, line)) {
    std::istringstream row(line);
    std::string option, type;
    row >> option >> type;
    const bool number =
        type.starts_with("FLOAT") || type.starts_with("INT") || type.starts_with("UINT");
    if (number && option.starts_with("--")) options.push_back(option);
  }
  return options;
}

struct Command {
  std::vector<std::string> words{};
  std::size_t numbers = 0;  // options at least
};

TEST(TrainMain, RefusesEveryOptionThatIsNoNumberByName) {
  const Command commands[] = {{.words = {"run", "--arch", "none"}, .numbers = 25},
                              {.words = {"servers", "--dir", "/dev/null/x"}, .numbers = 3},
                              {.words = {"predictor", "fit", "a", "--out", "b"}, .numbers = 1},
                              {.words = {"predictor", "score", "a"}, .numbers = 1}};
  const TestFolder folder;
  for (const Command& command : commands) {
    const std::vector<std::string> options = number_options(command.words);
    EXPECT_GE(options.size(), command.numbers) << command.words.front();
    for (const std::string& option : options) {
      for (const std::string& value :
           {std::string("nan"), std::string("inf"), std::string("-1"), std::string("1e400"),
            std::string(309, '9'), std::string("x")}) {
        std::vector<std::string> words = command.words;
        words.insert(words.end(), {option, value});
        const TestRun run = train(words, folder.run());
        EXPECT_EQ(run.exit_code, 2) << option << " " << value << ": " << run.errors;
        EXPECT_EQ(run.errors.find(option + ": '"), 0U) << option << " " << value << run.errors;
        EXPECT_NE(run.errors.find("number"), std::string::npos) << option << ": " << run.errors;
        EXPECT_LT(run.errors.size(), 250U) << option;
      }
    }
  }
}

TEST(TrainMain, RefusesAStepOfTheRateThatIsNoNumber) {
  const TestFolder folder;
  for (const char* const step : {"100:nan", "100:inf", "-100:0.1", "100:-0.1", "1e3:0.1"}) {
    const Outcome outcome = run_in(folder.run() + step, {"--steps", "10", "--rate-step", step});
    EXPECT_EQ(outcome.run.exit_code, 2) << step;
    EXPECT_EQ(outcome.run.errors.find("orrery-train: --rate-step " + std::string(step)), 0U)
        << outcome.run.errors;
  }
}

}  // namespace
}  // namespace orrery
