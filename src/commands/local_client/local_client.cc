#include "commands/local_client/local_client.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "base/own_program.h"
#include "live/client/commands.h"
#include "live/unix_socket/client.h"
#include "report/terminal/interrupt.h"
#include "report/terminal/standard_output.h"
#include "report/terminal/words.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 18> kCommands = {
    "submit",       "status", "cancel", "logs",    "nodes",  "drain",
    "resume",       "events", "policy", "quota",   "token",  "tokens",
    "certificates", "revoke", "remove", "tenants", "limits", "context"};

std::shared_ptr<CommandContext> client_context(void (*run_whole)(char**), char** argv,
                                               std::optional<int>& code) {
  const auto context = std::make_shared<CommandContext>(process_context());
  context->connect = [=](const Endpoint& endpoint) -> Result<std::unique_ptr<Client>> {
    auto client =
        std::make_unique<UnixSocketClient>(UnixSocketClientOptions{.path = endpoint.socket});
    // Nothing has been asked so far, so it can all be done again.
    if (endpoint.socket.empty() || !client->connect().ok()) run_whole(argv);
    return std::unique_ptr<Client>(std::move(client));
  };
  context->print = print_stream;
  context->exit_with = [&code](int said) { code = said; };
  context->width = terminal_width();
  context->catch_interrupts = catch_interrupts;
  context->interrupted = [] { return interrupted().load(); };
  return context;
}

}  // namespace

int run_local_client(int argc, char** argv, void (*run_whole)(char** argv)) {
  const bool ours = argc > 1 && std::ranges::find(kCommands, argv[1]) != kCommands.end();
  if (!ours) run_whole(argv);
  CLI::App app;
  app.require_subcommand(1);
  std::function<Status()> chosen;
  std::vector<std::string> program;
  const std::vector<std::string> takers = {"submit"};
  const auto words = split_program({argv, static_cast<std::size_t>(argc)}, takers, program);
  // What is not asked for need not be described.
  const auto add = argv[1] == takers.front() ? add_submit_command : add_live_commands;
  std::optional<int> code;
  add(app, chosen, program, client_context(run_whole, argv, code));
  std::signal(SIGPIPE, SIG_IGN);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Error&) {
    run_whole(argv);  // which knows what to say, and prints the help
  }
  const int usual = exit_code(chosen());
  return usual == 0 ? 0 : code.value_or(usual);
}

void exec_sibling(const char* name, char** argv) {
  const std::string path = own_program(name);
  ::execv(path.c_str(), argv);
  complain(fmt::format("{}: {}; it belongs there, or in libexec/orrery of an installed tree", path,
                       std::strerror(errno)));
  std::exit(1);
}

}  // namespace orrery
