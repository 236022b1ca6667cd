#include "base/command_pages/describe_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/command_pages/command_line.h"
#include "base/output_file.h"

namespace orrery {
namespace {

struct DescribeArguments {
  std::string format{};
  std::string folder{};
};

Status write_pages(const CommandLine& program, const std::string& folder) {
  if (folder.empty()) return invalid("describe man: name the folder of the pages by --out");
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return system_error(folder, failed.value());
  for (const auto& [name, text] : man_pages(program)) TRY(write_output(folder + "/" + name, text));
  return {};
}

Status describe(const CLI::App& app, const DescribeArguments& a) {
  const CommandLine program = read_command_line(app);
  if (a.format == "man") return write_pages(program, a.folder);
  std::string text;
  if (a.format == "bash") text = bash_completion(program);
  if (a.format == "zsh") text = zsh_completion(program);
  if (a.format == "fish") text = fish_completion(program);
  if (text.empty())
    return invalid(fmt::format("describe {}: write bash, zsh, fish or man", a.format));
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return system_error("standard output", errno);
  }
  return {};
}

}  // namespace

void add_describe(CLI::App& app, std::function<Status()>& run) {
  const auto a = std::make_shared<DescribeArguments>();
  CLI::App* command =
      app.add_subcommand("describe", "completion for bash, zsh or fish, or man pages")->group("");
  command->add_option("format", a->format, "bash, zsh, fish or man")->required();
  command->add_option("--out", a->folder, "folder of the man pages");
  command->callback([&app, &run, a] { run = [&app, a] { return describe(app, *a); }; });
}

}  // namespace orrery
