#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "live/api/client.h"
#include "live/client/connection.h"
#include "model/time.h"
#include "report/listing/list_arguments.h"

namespace orrery {

struct Listing;

// What it takes to become known to a scheduler: a key is made here, the token exchanged for a
// certificate, and both are kept in `credentials` under `certificate`.
struct JoinOrder {
  std::string server{};
  std::string token{};
  Caller::Role role = Caller::Role::Agent;
  std::string name{};
  std::string credentials{};
  std::string certificate = kJoinedCertificate;
};

// The ports and facts that a command depends on. Tests pass their own.
struct CommandContext {
  std::function<Result<std::unique_ptr<Client>>(const Endpoint&)> connect{};
  std::function<Result<std::string>(const JoinOrder&)> join{};  // answers HOST:PORT for calls
  Variables environment{};
  std::string directory{};  // where the command was called
  std::string host{};       // the name of this machine
  int width = 120;          // of the terminal
  bool terminal = false;    // standard output is a terminal
  bool can_answer = false;  // a person at a terminal can answer questions
  std::string login{};      // of this process

  std::function<Status(std::string_view)> print{};      // to standard output
  std::function<void(std::string_view)> print_error{};  // a line to standard error
  // Standard input: all of it, or a line. More than a megabyte is refused.
  std::function<Result<std::string>()> read_input{};
  std::function<Result<std::string>()> read_line{};
  // The code with which the program ends if the command fails; for one that hands on a job's.
  std::function<void(int)> exit_with{};

  std::function<Duration()> clock{};      // only differences mean something
  std::function<double()> now_s{};        // since 1970
  std::function<void(Duration)> pause{};  // may come back early when interrupted
  std::function<void()> catch_interrupts{};
  std::function<bool()> interrupted{};
  std::function<std::string()> random_key{};
};

// This process: environment, directory, streams but standard output, clocks and random keys.
CommandContext process_context();

// The environment of this process.
Variables process_environment();

// Finds the scheduler and connects.
Result<std::unique_ptr<Client>> connect(const ConnectionArguments& arguments,
                                        const CommandContext& context);

// The user that "me" means: the one in the certificate of the scheduler's context, else the login.
// Any other text is left as it is.
std::string full_user(const std::string& user, const ConnectionArguments& connection,
                      const CommandContext& context);

// A list in the form asked for.
Status print_listing(Listing listing, const ListArguments& arguments,
                     const CommandContext& context);

// What a command without a table did: an object for scripts, or a sentence with a line end.
Status print_done(bool json, const nlohmann::ordered_json& object, std::string_view sentence,
                  const CommandContext& context);

// Asks again for `most` while there is no answer, waiting longer each time; for questions that may
// arrive twice. After some seconds the user sees why.
template <class Question>
auto ask_for(const CommandContext& context, Duration most, Question question) {
  constexpr Duration kFirst = std::chrono::milliseconds(200);
  constexpr Duration kReported = 16 * kFirst;
  constexpr Duration kLongest = std::chrono::seconds(5);
  const Duration end = context.clock() + most;
  for (Duration pause = kFirst;; pause = std::min(pause * 2, kLongest)) {
    auto answer = question();
    if (answer.ok() || context.interrupted() || context.clock() >= end) return answer;
    const Code code = answer.error().code;
    if (code != Code::Unavailable && code != Code::DeadlineExceeded) return answer;
    if (pause == kReported) context.print_error(answer.error().message + "; waits");
    context.pause(std::min(pause, std::max(end - context.clock(), Duration(1))));
  }
}

// For a command that asks once.
inline constexpr Duration kPatience = std::chrono::seconds(6);
// For one that follows what happens, and had an answer before: a restart or an outage of the
// scheduler does not end it.
inline constexpr Duration kPatienceOfFollowers = std::chrono::hours(24 * 365);

template <class Question>
auto ask_again(const CommandContext& context, Question question) {
  return ask_for(context, kPatience, std::move(question));
}

}  // namespace orrery
