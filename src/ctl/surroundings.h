#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ctl/connection.h"
#include "model/time.h"
#include "protocol/client.h"

namespace orrery {

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

// What a command has around it. Tests hand in their own.
struct Surroundings {
  std::function<Result<std::unique_ptr<Client>>(const Endpoint&)> connect{};
  std::function<Result<std::string>(const JoinOrder&)> join{};  // answers HOST:PORT for calls
  Variables environment{};
  std::string directory{};  // where the command was called
  std::string host{};       // the name of this machine
  int width = 120;          // of the terminal
  bool terminal = false;    // somebody looks at standard output

  std::function<Status(std::string_view)> print{};  // to standard output
  std::function<void(std::string_view)> tell{};     // to standard error, a line
  std::function<Result<std::string>()> read_input{};

  std::function<Duration()> clock{};      // only differences mean something
  std::function<double()> now_s{};        // since 1970
  std::function<void(Duration)> pause{};  // may come back early when interrupted
  std::function<void()> catch_interrupts{};
  std::function<bool()> interrupted{};
  std::function<std::string()> random_key{};
};

// This process: environment, directory, streams but standard output, clocks and random keys.
Surroundings process_surroundings();

// Finds the scheduler and connects.
Result<std::unique_ptr<Client>> connect(const ConnectionArguments& arguments,
                                        const Surroundings& around);

// Asks again while nobody answers, a few times, waiting longer each time; for questions that may
// be heard twice.
template <class Question>
auto ask_again(const Surroundings& around, Question question) {
  Duration pause = std::chrono::milliseconds(200);
  for (int more = 5;; --more, pause *= 2) {
    auto answer = question();
    if (answer.ok() || more == 0 || around.interrupted()) return answer;
    const Code code = answer.error().code;
    if (code != Code::Unavailable && code != Code::DeadlineExceeded) return answer;
    around.pause(pause);
  }
}

}  // namespace orrery
