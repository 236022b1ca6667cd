#include "training/trainer/commands.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "report/listing/listing.h"
#include "training/trainer/checkpoint/checkpoint.h"
#include "training/trainer/head/head.h"
#include "training/trainer/lease/head_place.h"
#include "training/trainer/transport/addresses.h"
#include "training/trainer/worker/gang.h"
#include "training/trainer/worker/gang_member.h"

namespace orrery {
namespace {

Status print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return Error{Code::Unavailable, "standard output cannot be written"};
  }
  return {};
}

}  // namespace

Status prepare_command(const RunOptions& options) {
  const RunOptions whole = completed(options);
  TRY(check(whole));
  const std::string path = whole.folder + "/run.json";
  std::error_code error;
  std::filesystem::create_directories(whole.folder, error);
  if (error) return system_error(whole.folder, error.value());
  if (std::filesystem::exists(path)) {
    return invalid(fmt::format("{}: holds a run already; name another folder", whole.folder));
  }
  TRY(write_file_atomically(whole.folder + "/token", token_text(random_token())));
  return write_file_atomically(path, run_options_text(whole));
}

Status run_command(const RunOptions& options, const TrainPorts& ports) {
  if (options.members && options.epoch == 0) return prepare_command(options);
  TRY_ASSIGN(const std::optional<GangPlace> gang, read_gang());
  if (gang && gang->rank > 0) return run_gang_member(*gang);
  signal(SIGPIPE, SIG_IGN);
  // Threads that wait for work must not burn what others need.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  const RunOptions whole = completed(options);
  TRY(check(whole));
  TrainingResult result;
  {
    Head head(whole, ports, gang);
    TRY_ASSIGN(result, head.run());
  }
  TRY(print(options.json ? training_result_json(result) : training_result_text(result)));
  if (!result.failure.empty()) return Error{Code::DataLoss, result.failure};
  return {};
}

Status resize_command(const ResizeArguments& arguments) {
  const std::string& folder = arguments.folder;
  const int workers = arguments.workers;
  if (workers < 1) return invalid(fmt::format("{} workers: a run has 1 at least", workers));
  TRY_ASSIGN(const HeadPlace place, read_head_place(folder));
  TRY_ASSIGN(const std::string text, read_file(folder + "/token"));
  const auto transport = std::make_shared<Transport>();
  TRY_ASSIGN(transport->token, parse_token(text));
  boost::asio::io_context io(1);
  TRY_ASSIGN(const auto line, connect_to(io, place.host, place.port, transport));
  Status result = Error{Code::Unavailable, "the head gave no answer"};
  line->start({.frame =
                   [&](Connection& from, MessageFrame& frame) {
                     Text answer;
                     if (!take(from, frame, answer)) return;
                     result = !answer.ok ? Status(Error{Code::FailedPrecondition, answer.text})
                              : arguments.json ? print(json_line({{"dir", arguments.folder},
                                                                  {"workers", arguments.workers},
                                                                  {"text", answer.text}}))
                                               : print(answer.text + "\n");
                   },
               .closed =
                   [&result](Connection&, const Error& why) {
                     if (why.code == Code::PermissionDenied) result = why;
                   },
               .place = {}},
              {});
  line->send(MessageType::Hello, 0, Hello{.role = PartRole::Command, .id = 0, .pid = getpid()});
  line->send(MessageType::Resize, 0, ResizeMessage{.count = workers, .anyway = arguments.anyway});
  io.run_for(std::chrono::seconds(30));
  return result;
}

Status evaluate_command(const EvaluateArguments& arguments, const TrainPorts& ports) {
  if (arguments.from != "last" && arguments.from != "best") {
    return invalid(fmt::format("--from {}: write last or best", arguments.from));
  }
  const std::string path = arguments.folder + "/run.json";
  TRY_ASSIGN(const std::string text, read_file(path));
  auto read = parse_run_options(text);
  if (!read.ok()) return std::move(read).error().at(path);
  Checkpoint checkpoint;
  if (arguments.from == "best") {
    TRY_ASSIGN(checkpoint, read_checkpoint(best_checkpoint_path(arguments.folder)));
  } else {
    TRY_ASSIGN(FoundCheckpoint found, newest_checkpoint(arguments.folder));
    checkpoint = std::move(found.checkpoint);
  }
  TRY_ASSIGN(const auto learner, ports.make_learner(completed(read.value()).learner));
  if (std::ssize(checkpoint.parameters) != learner->parameter_count()) {
    return invalid("the checkpoint is of another model").at(arguments.folder);
  }
  TRY(learner->set_parameters(checkpoint.parameters));
  TRY_ASSIGN(const Evaluation evaluation, learner->evaluate());
  const ParameterVersion version = checkpoint.conductor.version;
  if (!arguments.json) {
    return print(fmt::format("version {}: accuracy {:.4f}, loss {:.4f}\n", version,
                             evaluation.accuracy, evaluation.loss));
  }
  const nlohmann::ordered_json result = {
      {"version", version}, {"accuracy", evaluation.accuracy}, {"loss", evaluation.loss}};
  return print(result.dump() + "\n");
}

Status worker_command(const JoinArguments& arguments, const TrainPorts& ports) {
  signal(SIGPIPE, SIG_IGN);
  auto place = parse_host_port(arguments.head);
  if (!place.ok()) return std::move(place).error().at("--join");
  PartStart start{.role = PartRole::Worker,
                  .id = -1,
                  .host = place.value().host,
                  .port = place.value().port,
                  .listen = arguments.listen};
  TRY_ASSIGN(const std::string text, read_file(arguments.token_file));
  auto token = parse_token(text);
  if (!token.ok()) return std::move(token).error().at(arguments.token_file);
  start.token = token.value();
  start.reached = std::make_shared<bool>(false);
  Status ended = run_worker(start, ports);
  if (!ended.ok() && !*start.reached) {
    Error error = std::move(ended).error();
    error.message += "; a run waits for workers of other machines at `run --listen ADDRESS`";
    return error;
  }
  return ended;
}

}  // namespace orrery
