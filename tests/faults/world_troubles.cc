// What people and the weather do to a world.
#include <fmt/format.h>

#include <algorithm>

#include "faults/world.h"
#include "live/store/backup.h"

namespace orrery {

// ---- People

void World::submit_one() {
  OpenSubmission submission{.key = fmt::format("k{}", ++submitted_)};
  JobRequest& job = submission.request.job;
  submission.request.key = submission.key;
  job.argv = {"train"};
  job.gpus = static_cast<int>(random_.between(1, random_.uniform() < 0.1 ? 6 : 2));
  job.retries = static_cast<int>(random_.between(0, 2));
  job.expected = up_to(std::chrono::seconds(60));
  job.grace = up_to(std::chrono::seconds(8));
  job.process_per_gpu = random_.uniform() < 0.2;
  if (random_.uniform() < 0.1) job.array = {1, 2, 3};
  if (random_.uniform() < weather_.hasty) {
    job.node_timeout = std::chrono::seconds(random_.between(1, 60));
  }
  if (random_.uniform() < 0.2) job.priority = static_cast<int>(random_.between(-1, 1));
  if (random_.uniform() < 0.1 && !acknowledged_.empty()) {
    auto other = acknowledged_.begin();
    std::advance(other, random_.between(0, static_cast<std::int64_t>(acknowledged_.size()) - 1));
    job.after = {other->second};
  }
  open_.push_back(std::move(submission));
}

void World::ask(const OpenSubmission& submission) {
  const auto answer = core_->submit({.name = "ann"}, submission.request, cluster_time());
  if (answer.ok()) {
    held_.answers.emplace_back(submission.key, answer.value());
  } else {
    // Refused, as when the job it comes after has failed; no user waits for it.
    std::erase_if(open_, [&](const OpenSubmission& other) { return other.key == submission.key; });
  }
}

void World::users() {
  if (core_ == nullptr) return;
  const Caller root{.role = Caller::Role::Admin, .name = "root"};
  const std::vector<OpenSubmission> open = open_;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (now_ < open[i].again) continue;
    const auto mine = std::ranges::find(open_, open[i].key, &OpenSubmission::key);
    if (mine == open_.end()) continue;
    mine->again = now_ + up_to(std::chrono::seconds(10));
    ask(open[i]);
  }
  if (!chance(weather_.user)) return;
  const std::int64_t dice = random_.between(0, 99);
  if (dice < 60 && submitted_ < 40) {
    submit_one();
  } else if (dice < 75 && !acknowledged_.empty()) {
    auto other = acknowledged_.begin();
    std::advance(other, random_.between(0, static_cast<std::int64_t>(acknowledged_.size()) - 1));
    const auto done = core_->cancel(root, {.ids = {other->second}}, cluster_time());
    if (done.ok()) {
      held_.cancelled.insert(held_.cancelled.end(), done.value().cancelled.begin(),
                             done.value().cancelled.end());
    }
  } else if (dice < 85) {
    const FakeMachine& machine = machines_[static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(machines_.size()) - 1))];
    (void)core_
        ->drain(root,
                {.node = machine.name,
                 .resume = random_.uniform() < 0.6,
                 .now = random_.uniform() < 0.5},
                cluster_time())
        .ok();
  } else if (dice < 87) {
    // The operator looks, and finds machines that are off.
    for (const FakeMachine& machine : machines_) {
      if (!machine.off || !weather_.operator_looks) continue;
      say(machine.name + " is off, says the operator");
      (void)core_->drain(root, {.node = machine.name, .lost = true}, cluster_time()).ok();
    }
  } else if (dice < 90) {
    const bool off = random_.uniform() < 0.5;
    const Status set = core_->set_quota(
        root, {.tenant = "ann", .gpus = off ? std::optional<int>() : std::optional<int>(2)},
        cluster_time());
    if (!set.ok()) fail(set.error().message);
  } else if (dice < 94) {
    static const std::vector<std::string> kPolicies = {
        "fifo", "srtf", "las", "muri-l", "gandiva", "themis", "antman", "elasticflow"};
    const auto& next = kPolicies[static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(kPolicies.size()) - 1))];
    say("policy " + next);
    const Status set = core_->set_policy(root, {.policy = next}, cluster_time());
    if (!set.ok()) fail(set.error().message);
  }
}

// ---- Backups

void World::back_up() {
  while (core_ == nullptr && wrong_.empty()) step();
  if (!wrong_.empty()) return;
  std::error_code none;
  const std::string copy = (folder_ / "backup.db").string();
  std::filesystem::remove(copy, none);
  const auto made = orrery::back_up((folder_ / "log.db").string(), copy);
  if (!made.ok()) return fail("no backup: " + made.error().message);
  const auto copied = recover(copy, {}, {.keeps_mark = false});
  if (!copied.ok()) return fail("the backup cannot be read: " + copied.error().message);
  const Book& book = copied.value().core->book();
  backup_ = {.next = book.next_number()};
  for (const JobNumber job : cancel_acknowledged_) {
    if (job < backup_->next) backup_->cancelled.insert(job);
  }
  say(fmt::format("a backup of {} records", made.value().last));
}

void World::restore() {
  while (core_ == nullptr && wrong_.empty()) step();
  if (!wrong_.empty()) return;
  stop_scheduler(false);
  disk_.heal();
  const std::string path = (folder_ / "log.db").string();
  std::error_code none;
  for (const char* end : {"-wal", "-mark"}) std::filesystem::remove(path + end, none);
  std::filesystem::copy_file(folder_ / "backup.db", path,
                             std::filesystem::copy_options::overwrite_existing);
  auto store = Store::open(path, {.disk = disk_.name(), .keeps_mark = false});
  if (!store.ok()) return fail("the backup cannot be read: " + store.error().message);
  Store log = std::move(store).value();
  ++restores_;
  Record record = to_record(
      LogNamed{.first = restores_ * 10'000, .epoch_floor = restores_ * 1'000, .restored = true},
      Time{});
  record.sequence = log.last() + 1;
  if (const Status put = log.append({&record, 1}); !put.ok()) return fail(put.error().message);
  std::erase_if(acknowledged_, [&](const auto& job) { return job.second >= backup_->next; });
  cancel_acknowledged_ = backup_->cancelled;
  say("the backup is put back");
}

// ---- Faults

void World::weather() {
  if (core_ != nullptr && chance(weather_.scheduler_crash)) {
    stop_scheduler(random_.uniform() < weather_.power_cut);
  }
  if (core_ != nullptr && chance(weather_.disk_fault)) {
    disk_.plan(static_cast<Fault>(random_.between(1, static_cast<int>(Fault::PowerCut))),
               static_cast<int>(random_.between(1, 30)));
  }
  for (FakeMachine& machine : machines_) {
    if (machine.agent != nullptr && chance(weather_.agent_crash)) {
      say(machine.name + ": the agent is killed");
      machine.agent.reset();
      machine.agent_back = now_ + up_to(std::chrono::seconds(40));
    }
    if (chance(weather_.machine_reboot)) reboot(machine);
    if (chance(weather_.partition)) {
      const Duration until = now_ + up_to(std::chrono::seconds(60));
      if (random_.uniform() < 0.8) machine.cut_to_scheduler = until;
      if (random_.uniform() < 0.8) machine.cut_from_scheduler = until;
      say(machine.name + " is cut off");
      if (random_.uniform() < 0.5) {
        if (core_ != nullptr) core_->disconnected(machine.connection);
        machine.connection = 0;
      }
    }
  }
}

}  // namespace orrery
