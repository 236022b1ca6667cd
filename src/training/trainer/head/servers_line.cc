#include "training/trainer/head/servers_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "training/mode_selection/scoring/score.h"

namespace orrery {
namespace {

namespace asio = boost::asio;

constexpr auto kJoinPatience = std::chrono::seconds(20);
constexpr Duration kAnswerHolds = std::chrono::seconds(10);  // as does the question

struct ServersAt {
  std::string host{};
  std::uint16_t port = 0;
};

Result<ServersAt> find_servers(const std::string& folder) {
  auto text = read_file(folder + "/servers");
  if (!text.ok()) {
    return invalid(
        fmt::format("--servers {}: no servers are kept there; start `orrery-train servers "
                    "--dir {}` first",
                    folder, folder));
  }
  std::istringstream words(text.value());
  ServersAt at;
  if (!(words >> at.host >> at.port)) return invalid("not a folder of servers").at(folder);
  return at;
}

bool is_limit(const Load& load) { return load.cpu > 0 && load.in >= 0 && load.out >= 0; }

}  // namespace

ServersLine::ServersLine(std::shared_ptr<Connection> connection, int workers)
    : connection_(std::move(connection)), workers_(workers) {}

ServersLine::~ServersLine() { connection_->close({Code::Cancelled, "the run is over"}); }

Result<std::shared_ptr<ServersLine>> ServersLine::join(asio::io_context& io,
                                                       const std::string& folder,
                                                       const JoinServersMessage& requests) {
  TRY_ASSIGN(const ServersAt at, find_servers(folder));
  TRY_ASSIGN(const std::string text, read_file(folder + "/token"));
  const auto transport = std::make_shared<Transport>();
  auto token = parse_token(text);
  if (!token.ok()) return std::move(token).error().at(folder + "/token");
  transport->token = token.value();
  TRY_ASSIGN(auto connection, connect_to(io, at.host, at.port, transport));
  const auto workers = std::ranges::count(requests.requests, false, &TaskRequest::makes_updates);
  const std::shared_ptr<ServersLine> line(
      new ServersLine(std::move(connection), static_cast<int>(workers)));
  const std::weak_ptr<ServersLine> weak = line;
  line->connection_->start({.frame =
                                [weak](Connection&, MessageFrame& frame) {
                                  if (const auto self = weak.lock()) self->came(frame);
                                },
                            .closed =
                                [weak](Connection&, const Error& why) {
                                  const auto self = weak.lock();
                                  if (!self) return;
                                  if (self->end_.ok()) self->end_ = why;
                                  if (self->handlers_.lost) self->handlers_.lost(why.message);
                                },
                            .place = {}},
                           {});
  line->connection_->send(MessageType::Hello, 0,
                          Hello{.role = PartRole::Run, .id = 0, .pid = getpid()});
  line->connection_->send(MessageType::JoinServers, 0, requests);
  const auto deadline = std::chrono::steady_clock::now() + kJoinPatience;
  while (line->places_.empty() && line->end_.ok()) {
    if (io.run_one_until(deadline) == 0) break;
  }
  const std::string place = "--servers " + folder;
  if (!line->end_.ok()) return std::move(line->end_).error().at(place);
  if (line->places_.empty()) return Error{Code::DeadlineExceeded, "no answer"}.at(place);
  if (line->places_.size() != requests.requests.size()) {
    return Error{Code::Internal, "an answer to another request"}.at(place);
  }
  return line;
}

void ServersLine::came(MessageFrame& frame) {
  bool good = false;
  switch (frame.header.type) {
    case MessageType::Places:
      good = places_.empty() && take_places(frame);
      break;
    case MessageType::Limits:
      good = take_limits(frame);
      break;
    case MessageType::ModeAnswer:
      good = take_answer(frame);
      break;
    default:
      break;
  }
  if (!good) connection_->close(invalid("the servers said what makes no sense"));
}

bool ServersLine::take_places(MessageFrame& frame) {
  auto message = read_fields<PlacesMessage>(frame.body);
  if (!message.ok()) return false;
  const PlacesMessage& answer = message.value();
  if (!answer.error.empty()) {
    end_ = Error{static_cast<Code>(answer.error_code), answer.error};
    return true;
  }
  places_ = answer.places;
  return std::ranges::all_of(places_, [](const TaskPlace& p) { return is_limit(p.limit); });
}

bool ServersLine::take_limits(MessageFrame& frame) {
  auto message = read_fields<LimitsMessage>(frame.body);
  if (!message.ok()) return false;
  for (const auto& [task, limit] : message.value().limits) {
    const bool there = task >= 0 && task < static_cast<int>(places_.size());
    if (!there || !is_limit(limit)) return false;
    if (handlers_.limit) {
      handlers_.limit(task, limit);
    } else {
      early_.emplace_back(task, limit);
    }
  }
  return true;
}

bool ServersLine::take_answer(MessageFrame& frame) {
  auto message = read_fields<ModeAnswerMessage>(frame.body);
  if (!message.ok()) return false;
  const bool granted = message.value().granted;
  if (question_ && question_->number == frame.header.number) {
    question_->granted = granted;
  } else if (granted && !in_use_) {
    give_back();  // the director no longer waits for it
  }
  return true;
}

void ServersLine::handle(Handlers handlers) {
  handlers_ = std::move(handlers);
  for (const auto& [task, limit] : std::exchange(early_, {})) handlers_.limit(task, limit);
}

void ServersLine::report(const JobReport& report) {
  connection_->send(MessageType::Report, 0, ReportMessage{report});
}

void ServersLine::give_back() { connection_->send(MessageType::GiveBack, 0, Nothing{}); }

void ServersLine::tick(Time now) {
  if (!question_ || !question_->granted || now - question_->at < kAnswerHolds) return;
  const bool granted = *question_->granted;
  question_.reset();
  if (granted && !in_use_) give_back();
}

void ServersLine::restart() {
  question_.reset();
  if (std::exchange(in_use_, false)) give_back();
}

GrantAnswer ServersLine::may(const GrantRequest& request) {
  if (!connection_->open()) return GrantAnswer::No;
  if (question_ && !question_->granted) {
    if (request.now - question_->at < kAnswerHolds) return GrantAnswer::Later;
    question_.reset();
    return GrantAnswer::No;
  }
  if (question_ && same_family(question_->mode, request.mode)) {
    const bool granted = *std::exchange(question_, std::nullopt)->granted;
    in_use_ = in_use_ || granted;
    return granted ? GrantAnswer::Yes : GrantAnswer::No;
  }
  // What was granted for another mode is replaced by what is granted for this one.
  question_ = {.number = next_++, .mode = request.mode, .at = request.now};
  connection_->send(MessageType::AskMode, question_->number,
                    AskModeMessage{.mode = mode_name(request.mode, workers_),
                                   .rate_ratio = request.rate_ratio,
                                   .time_saved = request.time_saved});
  return GrantAnswer::Later;
}

void ServersLine::given_back(Time) {
  question_.reset();
  in_use_ = false;
  give_back();
}

}  // namespace orrery
