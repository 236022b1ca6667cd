#include "live/client/command_context.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <random>

#include "base/logins.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string random_key() {
  std::random_device device;
  std::string key;
  for (int i = 0; i < 4; ++i) key += fmt::format("{:08x}", device());
  return key;
}

// Unlike sleep_for, this ends with a signal, so that Ctrl-C is answered at once.
void pause_for(Duration duration) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  if (milliseconds > 0) poll(nullptr, 0, static_cast<int>(std::min<long>(milliseconds, INT_MAX)));
}

constexpr std::size_t kInputMost = std::size_t{1} << 20;

Result<std::string> read_standard_input() {
  std::string text;
  for (char c = 0; text.size() <= kInputMost && std::cin.get(c);) text += c;
  if (text.size() > kInputMost) return invalid("standard input has more than 1 MiB");
  return text;
}

Result<std::string> read_input_line() {
  std::string line;
  for (char c = 0; line.size() < kInputMost && std::cin.get(c) && c != '\n';) line += c;
  return line;
}

}  // namespace

Variables process_environment() {
  Variables found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

CommandContext process_context() {
  CommandContext context;
  context.environment = process_environment();
  std::error_code problem;
  context.directory = std::filesystem::current_path(problem).string();
  context.host = host_name();
  context.terminal = isatty(STDOUT_FILENO) == 1;
  context.print_error = [](std::string_view line) {
    std::fputs(fmt::format("{}\n", line).c_str(), stderr);
  };
  context.can_answer = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  context.login = login_name(::geteuid());
  context.read_input = read_standard_input;
  context.read_line = read_input_line;
  context.clock = [] {
    return std::chrono::duration_cast<Duration>(
        std::chrono::steady_clock::now().time_since_epoch());
  };
  context.now_s = [] {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  context.pause = pause_for;
  context.random_key = random_key;
  return context;
}

std::string full_user(const std::string& user, const ConnectionArguments& connection,
                      const CommandContext& context) {
  if (user != "me") return user;
  const auto choice = choose_scheduler(connection, context.environment);
  const std::string named = choice.ok() ? choice.value().scheduler.user : "";
  return named.empty() ? context.login : named;
}

Status print_listing(Listing listing, const ListArguments& arguments,
                     const CommandContext& context) {
  TRY_ASSIGN(const std::string text, to_text(std::move(listing), arguments, context.width));
  return context.print(text);
}

Status print_done(bool json, const nlohmann::ordered_json& object, std::string_view sentence,
                  const CommandContext& context) {
  return context.print(json ? json_line(object) : std::string(sentence));
}

Result<std::unique_ptr<Client>> connect(const ConnectionArguments& arguments,
                                        const CommandContext& context) {
  // `orrery serve` in the background makes the folder first and its address last.
  constexpr Duration kStart = std::chrono::seconds(3);
  constexpr Duration kBetween = std::chrono::milliseconds(50);
  auto found = find_scheduler(arguments, context.environment);
  const Duration end = context.clock() + kStart;
  while (!found.ok() && may_be_starting(arguments, context.environment) && context.clock() < end &&
         !(context.interrupted && context.interrupted())) {
    context.pause(kBetween);
    found = find_scheduler(arguments, context.environment);
  }
  TRY_ASSIGN(const Endpoint endpoint, std::move(found));
  if (context.connect) return context.connect(endpoint);
  return Error{Code::Unimplemented,
               fmt::format("{}: this program was built without the wire", endpoint.address)};
}

}  // namespace orrery
