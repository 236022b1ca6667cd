#include "training/trainer/transport/part.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "training/trainer/lease/head_place.h"
#include "training/trainer/transport/pulse.h"

namespace orrery {

using nlohmann::json;

std::string part_start_text(const PartStart& start) {
  return json{{"role", static_cast<int>(start.role)},
              {"id", start.id},
              {"host", start.host},
              {"port", start.port},
              {"token", token_text(start.token)},
              {"listen", start.listen},
              {"folder", start.folder},
              {"cores", start.cores}}
      .dump();
}

Result<PartStart> parse_part_start(const std::string& text) {
  const json values = json::parse(text, nullptr, false);
  PartStart start;
  try {
    start.role = static_cast<PartRole>(values.at("role").get<int>());
    start.id = values.at("id").get<std::int32_t>();
    start.host = values.at("host").get<std::string>();
    start.port = values.at("port").get<std::uint16_t>();
    start.listen = values.at("listen").get<std::string>();
    start.folder = values.at("folder").get<std::string>();
    start.cores = values.at("cores").get<double>();
    TRY_ASSIGN(start.token, parse_token(values.at("token").get<std::string>()));
  } catch (const json::exception&) {
    return invalid("`orrery-train part` is started by `orrery-train run` alone");
  }
  return start;
}

Result<std::unique_ptr<Part>> Part::connect(const PartStart& start, OnFrame on_frame) {
  auto part = std::make_unique<Part>();
  part->start = start;
  part->on_frame_ = std::move(on_frame);
  part->transport->token = start.token;
  part->transport->self = start.id;
  TRY_ASSIGN(part->head,
             connect_to(part->io, start.host, start.port, part->transport, start.attempts()));
  part->head->send(MessageType::Hello, 0,
                   Hello{.role = start.role, .id = start.id, .pid = getpid()});
  part->head->start(part->handlers(), {});
  if (start.reached) *start.reached = true;
  if (start.id >= 0) part->start_pulse();
  if (!start.folder.empty()) part->watch_epoch();
  return part;
}

void Part::watch_epoch() {
  epoch_timer_.expires_after(std::chrono::milliseconds(250));
  epoch_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || over) return;
    const auto place = read_head_place(start.folder);
    if (!place.ok() || place.value().epoch <= start.epoch) return watch_epoch();
    end = Error{Code::Unavailable, "another head leads the run"};
    over = true;
    head->close(end.error());
  });
}

Part::~Part() = default;

void Part::start_pulse() {
  if (!pulse_) pulse_ = std::make_unique<Pulse>(start, transport->self);
}

Connection::Handlers Part::handlers() {
  return {.frame = [this](Connection&, MessageFrame& frame) { on_frame_(frame); },
          .closed =
              [this](Connection&, const Error& why) {
                const bool refused = why.code == Code::PermissionDenied;
                const std::string place = fmt::format("{}:{}", start.host, start.port);
                if (!over) end = Error(why).at(refused ? place : "the head is gone");
                over = true;
              },
          .place = {}};
}

bool Part::common(MessageFrame& frame) {
  switch (frame.header.type) {
    case MessageType::Stop:
      over = true;
      head->close_when_sent();
      return true;
    case MessageType::SetLink: {
      LinkMessage link;
      if (!take(*head, frame, link)) return true;
      const auto now = TokenBucket::Clock::now();
      transport->in.set_rate(link.bytes_per_s, now);
      transport->out.set_rate(link.bytes_per_s, now);
      return true;
    }
    default:
      return false;
  }
}

void Part::limit(FrameLimits limits) { head->handle(handlers(), limits); }

void Part::fail(const Error& error) {
  if (over) return;
  head->send(MessageType::Ready, 0,
             ReadyMessage{.error = error.message, .error_code = static_cast<int>(error.code)});
  head->close_when_sent();
  over = true;
  end = error;
}

void Part::run() {
  while (!over && io.run_one() > 0) {
  }
  // What was said last is still on its way.
  while (head->open() && io.run_one_for(std::chrono::seconds(1)) > 0) {
  }
}

namespace {

Status run_role(const PartStart& start, const TrainPorts& ports) {
  switch (start.role) {
    case PartRole::Shard:
      return run_shard(start);
    case PartRole::Worker:
      return run_worker(start, ports);
    case PartRole::Evaluator:
      return run_evaluator(start, ports);
    case PartRole::Command:
    case PartRole::Run:
    case PartRole::Pulse:
    case PartRole::Gang:
      break;
  }
  return invalid("no such part of a run");
}

}  // namespace

Status run_part(const TrainPorts& ports) {
  // Stopping is the head's decision, also where a signal goes to the whole process group: what a
  // shard holds is needed for the last checkpoint. A worker handles SIGTERM itself.
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  TRY_ASSIGN(const std::string text, read_file(Fd(dup(STDIN_FILENO)), "standard input"));
  TRY_ASSIGN(PartStart start, parse_part_start(text));
  start.reached = std::make_shared<bool>(false);
  Status ended = run_role(start, ports);
  if (!ended.ok() && !*start.reached) {
    std::fputs(("orrery-train: " + ended.error().message + "\n").c_str(), stderr);
  }
  return ended;
}

}  // namespace orrery
