#include "training/trainer/servers_command.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "training/trainer/transport/host.h"
#include "training/trainer/transport/part.h"
#include "training/trainer/transport/share_messages.h"

namespace orrery {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

// Text that a run sent, made safe for a line of a table.
std::string plain(const std::string& text) {
  std::string clean = text.substr(0, 60);
  for (char& c : clean) {
    if (c < ' ' || c > '~' || c == '"') c = '?';
  }
  return clean;
}

class BookKeeper {
 public:
  BookKeeper(const ServersArguments& arguments, std::span<const Load> capacities)
      : arguments_(arguments), shared_(capacities, {.considers = arguments.considers}) {}

  Status run();

 private:
  // A caller that has said hello; a job once it has been taken in.
  struct Line {
    std::shared_ptr<Connection> connection{};
    JobId job{};
    bool joined = false;
    bool ready = false;  // it has made its servers
  };

  Status open();
  void greet(const std::shared_ptr<Connection>& connection, const Hello& hello);
  void from_run(std::int64_t id, MessageFrame& frame);
  bool join(Line& line, MessageFrame& frame);
  bool ask(Line& line, MessageFrame& frame);
  bool report(Line& line, MessageFrame& frame);
  void leave(std::int64_t id, const Error& why);
  void enforce(const std::vector<LimitChange>& changes);
  void note(JobId job, std::string_view what, const std::string& detail);

  const ServersArguments& arguments_;
  SharedServers shared_;
  asio::io_context io_{1};
  std::shared_ptr<Transport> transport_{std::make_shared<Transport>()};
  std::unique_ptr<Host> host_{};
  std::map<std::int64_t, Line> lines_{};
  std::int64_t next_ = 1;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> table_{nullptr, std::fclose};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::int64_t joined_ = 0, asked_ = 0, granted_ = 0, moved_ = 0, refused_ = 0;
};

Status BookKeeper::open() {
  std::error_code error;
  fs::create_directories(arguments_.folder, error);
  if (error) return system_error(arguments_.folder, error.value());
  const std::string table = arguments_.folder + "/book.csv";
  table_.reset(std::fopen(table.c_str(), "we"));
  if (!table_) return system_error(table, errno);
  std::fputs("time_s,job,what,detail\n", table_.get());
  transport_->token = random_token();
  TRY_ASSIGN(host_, Host::open(io_, arguments_.listen, transport_,
                               [this](auto line, const Hello& hello) { greet(line, hello); }));
  const mode_t before = umask(0077);
  const Status token =
      write_file_atomically(arguments_.folder + "/token", token_text(transport_->token));
  umask(before);
  TRY(Status(token));
  TRY(write_file_atomically(arguments_.folder + "/servers",
                            fmt::format("{} {} {}\n", host_->address(), host_->port(), getpid())));
  say(fmt::format("{} servers of {} cores at {}:{}", arguments_.count, arguments_.cores,
                  host_->address(), host_->port()));
  return {};
}

Status BookKeeper::run() {
  asio::signal_set signals(io_, SIGINT, SIGTERM);
  TRY(open());
  signals.async_wait([this](const boost::system::error_code&, int) { io_.stop(); });
  io_.run();
  say(
      fmt::format("{} jobs; {} modes asked for, {} granted, {} limits moved; {} connections and {} "
                  "messages refused",
                  joined_, asked_, granted_, moved_, host_->refused(), refused_));
  std::error_code ignored;
  fs::remove(arguments_.folder + "/servers", ignored);
  return {};
}

void BookKeeper::note(JobId job, std::string_view what, const std::string& detail) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
  std::fputs(
      fmt::format("{:.3f},{},{},\"{}\"\n", passed.count(), static_cast<int>(job), what, detail)
          .c_str(),
      table_.get());
  std::fflush(table_.get());
}

void BookKeeper::greet(const std::shared_ptr<Connection>& connection, const Hello& hello) {
  if (hello.role != PartRole::Run) {
    return connection->close({Code::PermissionDenied, "only runs are served here"});
  }
  const std::int64_t id = next_++;
  lines_[id] = {.connection = connection, .job = JobId{static_cast<int>(id)}};
  connection->handle(
      {.frame = [this, id](Connection&, MessageFrame& frame) { from_run(id, frame); },
       .closed = [this, id](Connection&, const Error& why) { leave(id, why); },
       .place = {}},
      {});
}

void BookKeeper::from_run(std::int64_t id, MessageFrame& frame) {
  Line& line = lines_.at(id);
  bool good = false;
  switch (frame.header.type) {
    case MessageType::JoinServers:
      good = !line.joined && join(line, frame);
      break;
    case MessageType::Report:
      good = line.joined && report(line, frame);
      break;
    case MessageType::AskMode:
      good = line.joined && ask(line, frame);
      break;
    case MessageType::GiveBack:
      good = line.joined;
      if (good) {
        note(line.job, "gives back", "");
        enforce(shared_.give_back(line.job));
      }
      break;
    default:
      break;
  }
  if (good) return;
  ++refused_;
  note(line.job, "refused", fmt::format("message of kind {}", static_cast<int>(frame.header.type)));
  line.connection->close(invalid("a message that makes no sense here"));
}

bool BookKeeper::join(Line& line, MessageFrame& frame) {
  auto message = read_fields<JoinServersMessage>(frame.body);
  if (!message.ok()) return false;
  PlacesMessage answer{.job = static_cast<std::int64_t>(line.job),
                       .considers = shared_.considers()};
  auto admitted = shared_.admit(line.job, message.value().requests);
  if (admitted.ok()) {
    answer.places = admitted.value().places;
    line.joined = true;
    ++joined_;
    enforce(admitted.value().changes);
  } else {
    if (admitted.error().code == Code::InvalidArgument) ++refused_;
    answer.error = admitted.error().message;
    answer.error_code = static_cast<std::int32_t>(admitted.error().code);
  }
  const std::string name = plain(message.value().name);
  note(line.job, line.joined ? "joined" : "not taken in", line.joined ? name : answer.error);
  for (const TaskPlace& place : answer.places) {
    note(line.job, "place",
         fmt::format("server {} cpu {:.4g} in {:.4g} out {:.4g}", static_cast<int>(place.server),
                     place.limit.cpu, place.limit.in, place.limit.out));
  }
  if (line.joined) say(fmt::format("job {} joined: {}", static_cast<int>(line.job), name));
  line.connection->send(MessageType::Places, 0, answer);
  if (!line.joined) line.connection->close_when_sent();
  return true;
}

bool BookKeeper::report(Line& line, MessageFrame& frame) {
  auto message = read_fields<ReportMessage>(frame.body);
  if (!message.ok()) return false;
  auto changes = shared_.report(line.job, message.value().report);
  if (!changes.ok()) return false;
  enforce(changes.value());
  if (!line.ready) say(fmt::format("job {} is ready", static_cast<int>(line.job)));
  line.ready = true;
  return true;
}

bool BookKeeper::ask(Line& line, MessageFrame& frame) {
  auto message = read_fields<AskModeMessage>(frame.body);
  if (!message.ok()) return false;
  const AskModeMessage& request = message.value();
  auto decided = shared_.ask(
      {.job = line.job, .rate_ratio = request.rate_ratio, .time_saved = request.time_saved});
  if (!decided.ok()) return false;
  const Consideration& answer = decided.value();
  ++asked_;
  granted_ += answer.granted ? 1 : 0;
  note(line.job, answer.granted ? "granted" : "not granted",
       fmt::format("{} ratio {:.3g} saves {:.3g}: {}; gain {:.3g} s cost {:.3g} s",
                   plain(request.mode), request.rate_ratio, request.time_saved, answer.reason,
                   answer.gain_s, answer.cost_s));
  say(fmt::format("job {} {} go into {}: {}", static_cast<int>(line.job),
                  answer.granted ? "may" : "may not", plain(request.mode), answer.reason));
  enforce(answer.changes);
  line.connection->send(MessageType::ModeAnswer, frame.header.number,
                        ModeAnswerMessage{.granted = answer.granted, .reason = answer.reason});
  return true;
}

void BookKeeper::enforce(const std::vector<LimitChange>& changes) {
  for (const auto& [id, line] : lines_) {
    LimitsMessage message;
    for (const LimitChange& change : changes) {
      if (change.job != line.job) continue;
      message.limits.emplace_back(change.task, change.limit);
      note(change.job, "limit",
           fmt::format("task {} cpu {:.4g} in {:.4g} out {:.4g}", change.task, change.limit.cpu,
                       change.limit.in, change.limit.out));
      ++moved_;
    }
    if (!message.limits.empty()) line.connection->send(MessageType::Limits, 0, message);
  }
}

void BookKeeper::leave(std::int64_t id, const Error& why) {
  const auto found = lines_.find(id);
  if (found == lines_.end()) return;
  const Line gone = std::move(found->second);
  lines_.erase(found);
  if (!gone.joined) return;
  note(gone.job, "left", plain(why.message));
  enforce(shared_.leave(gone.job));
  say(fmt::format("job {} left", static_cast<int>(gone.job)));
}

Status check(const ServersArguments& arguments) {
  if (arguments.count < 1 || arguments.count > 10000) {
    return invalid(fmt::format("--count {}: 1 to 10000 servers", arguments.count));
  }
  if (!(arguments.cores > 0) || !std::isfinite(arguments.cores)) {
    return invalid(
        fmt::format("--cores {}: say how much CPU each server has, such as 0.4", arguments.cores));
  }
  if (!(arguments.link >= 0) || !std::isfinite(arguments.link)) {
    return invalid(fmt::format("--link {}: bytes a second, 0 or more", arguments.link));
  }
  return {};
}

}  // namespace

Status servers_command(const ServersArguments& arguments) {
  signal(SIGPIPE, SIG_IGN);
  TRY(check(arguments));
  const std::vector<Load> capacities(
      static_cast<std::size_t>(arguments.count),
      Load{.cpu = arguments.cores, .in = arguments.link, .out = arguments.link});
  return BookKeeper(arguments, capacities).run();
}

}  // namespace orrery
