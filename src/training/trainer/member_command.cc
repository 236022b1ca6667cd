#include "training/trainer/member_command.h"

#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <optional>

#include "base/files.h"
#include "training/lease/lease.h"
#include "training/trainer/head/children.h"
#include "training/trainer/lease/head_place.h"
#include "training/trainer/transport/part.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr auto kPause = std::chrono::seconds(1);  // before a process that has failed starts again

std::optional<PartRole> role_of(const std::string& word) {
  if (word == "worker" || word == "chief") return PartRole::Worker;
  if (word == "shard") return PartRole::Shard;
  if (word == "evaluator") return PartRole::Evaluator;
  return std::nullopt;
}

class MemberProcess {
 public:
  MemberProcess(const MemberArguments& arguments, const RunToken& token)
      : arguments_(arguments),
        role_(role_of(arguments.role)),
        token_(token),
        lease_(arguments.folder),
        watch_(arguments.name, std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(arguments.patience_s))),
        children_(io_, [this](pid_t pid, const std::string&) { ended(pid); }),
        signals_(io_, SIGTERM),
        ticker_(io_) {}

  Status run() {
    await_notice();
    look();
    while (!over_ && io_.run_one() > 0) {
    }
    signals_.cancel();
    // Parts end with the run; what is left after a while ends with this process.
    const auto deadline = Clock::now() + std::chrono::seconds(3);
    while (!children_.running().empty() && Clock::now() < deadline) io_.run_one_until(deadline);
    return std::move(failed_);
  }

 private:
  void await_notice() {
    signals_.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      noticed_ = true;
      if (part_ > 0 && role_ == PartRole::Worker) ::kill(part_, SIGTERM);
      if (head_ <= 0) return;
      // Whatever the head has under way is handed out again by the next one.
      children_.kill(head_);
      if (const Status done = lease_.release(epoch_); !done.ok()) failed_ = done;
    });
  }

  void look() {
    over_ = run_is_over(arguments_.folder);
    if (over_) return;
    keep_part();
    keep_lease();
    ticker_.expires_after(kLook);
    ticker_.async_wait([this](const boost::system::error_code& error) {
      if (!error) look();
    });
  }

  void keep_part() {
    if (!role_ || part_ > 0 || noticed_ || Clock::now() < part_again_) return;
    const PartStart start{.role = *role_,
                          .id = role_ == PartRole::Worker ? -1 : arguments_.index,
                          .token = token_,
                          .listen = "",
                          .folder = arguments_.folder,
                          .cores = arguments_.cores};
    auto started = children_.start(
        {.command = {own_program(), "part"}, .input = part_start_text(start), .before = {}});
    if (started.ok()) part_ = started.value();
  }

  void keep_lease() {
    if (!arguments_.may_lead || noticed_ || head_ > 0 || Clock::now() < head_again_) return;
    const auto seen = lease_.read();
    if (!seen.ok()) return;
    const ChiefLease& lease = seen.value();
    const bool first = lease.epoch == 0 && arguments_.role == "chief";
    const bool own = lease.epoch > 0 && lease.holder == arguments_.name;
    if (!first && !own && !watch_.may_take(lease, Clock::now())) return;
    const auto mine = lease_.take(lease, arguments_.name);
    if (!mine.ok() || !mine.value()) return;
    epoch_ = mine.value()->epoch;
    auto started = children_.start(
        {.command = {own_program(), "run", "--resume", arguments_.folder, "--holder",
                     arguments_.name, "--epoch", std::to_string(epoch_), "--json", "--quiet"},
         .input = "",
         .before = {}});
    if (started.ok()) head_ = started.value();
    head_again_ = Clock::now() + kPause;
  }

  void ended(pid_t pid) {
    if (pid == head_) head_ = 0;
    if (pid != part_) return;
    part_ = 0;
    part_again_ = Clock::now() + kPause;
  }

  const MemberArguments arguments_;
  const std::optional<PartRole> role_;
  const RunToken token_;
  const LeaseFile lease_;
  LeaseWatch watch_;
  boost::asio::io_context io_{1};
  Children children_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_;
  pid_t part_ = 0, head_ = 0;
  Clock::time_point part_again_{}, head_again_{};
  std::int64_t epoch_ = 0;
  bool noticed_ = false, over_ = false;
  Status failed_{};
};

}  // namespace

Status member_command(const MemberArguments& arguments) {
  signal(SIGPIPE, SIG_IGN);
  setenv("OMP_WAIT_POLICY", "passive", 0);
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  if (!role_of(arguments.role)) {
    return invalid(
        fmt::format("--role {}: write worker, shard, evaluator or chief", arguments.role));
  }
  TRY_ASSIGN(const std::string text, read_file(arguments.folder + "/token"));
  auto token = parse_token(text);
  if (!token.ok()) return std::move(token).error().at(arguments.folder + "/token");
  return MemberProcess(arguments, token.value()).run();
}

}  // namespace orrery
