#include "cloud/transient_run/transient_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cloud/decisions/checkpoints.h"
#include "cloud/decisions/chief.h"
#include "cloud/ledger/job_costs.h"
#include "model/duration_text.h"
#include "training/emulation/tool.h"

namespace orrery {
namespace {

constexpr Duration kChiefWindow = std::chrono::hours(1);
constexpr Duration kRefusalPause = std::chrono::minutes(1);

// A UUID that follows from the server's name: a repeated request makes nothing twice.
std::string request_id_of(const std::string& name, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037U ^ seed;
  const auto mix = [&hash, &name](std::uint64_t salt) {
    hash ^= salt;
    for (const char letter : name) {
      hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    }
    return hash;
  };
  const std::uint64_t high = mix(1);
  const std::uint64_t low = mix(2);
  return fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xfff, (low >> 48) & 0xfff, low & 0xffffffffffff);
}

// In single quotes for /bin/sh.
std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

bool trains(const std::string& role) { return role == "chief" || role == "worker"; }

}  // namespace

std::vector<std::string> prepare_arguments(const TransientPlan& plan) {
  const TrainingSpec& training = plan.spec.training;
  const int workers = plan.spec.workers.count + 1;
  const auto rule = rate_rule_of(training.rate_rule).value_or(WorkersRateRule::InverseRoot);
  double rate = training.rate;
  std::string scaling = "none";
  if (rule == WorkersRateRule::InverseRoot) scaling = "inverse-sqrt";
  if (rule == WorkersRateRule::Linear) scaling = "linear";
  if (rule == WorkersRateRule::Naive) {
    const int slots = training.slots > 0 ? static_cast<int>(training.slots) : workers;
    rate *= rate_factor(rule, workers, workers, slots);
  }
  std::vector<std::string> words = {"run",
                                    "--members",
                                    "--dir",
                                    plan.folder,
                                    "--workers",
                                    std::to_string(workers),
                                    "--shards",
                                    std::to_string(plan.spec.parameter_servers.count),
                                    "--model",
                                    training.model,
                                    "--data",
                                    training.data,
                                    "--mode",
                                    training.mode,
                                    "--batch",
                                    std::to_string(training.batch),
                                    "--rate",
                                    fmt::format("{}", rate),
                                    "--rate-scaling",
                                    scaling,
                                    "--seed",
                                    std::to_string(training.seed),
                                    "--evaluate-every",
                                    std::to_string(training.evaluate_every)};
  const auto add = [&words](const char* flag, const std::string& value) {
    words.emplace_back(flag);
    words.push_back(value);
  };
  if (training.steps > 0) add("--steps", std::to_string(training.steps));
  if (training.target > 0) add("--target", fmt::format("{}", training.target));
  if (!training.time_limit.empty()) add("--time-limit", training.time_limit);
  words.insert(words.end(), training.arguments.begin(), training.arguments.end());
  return words;
}

TransientRun::TransientRun(const TransientPlan& plan, Provider& provider, CostLedger& ledger)
    : plan_(plan),
      provider_(provider),
      ledger_(ledger),
      folder_(plan.folder),
      lease_(plan.folder) {}

ServerSpec TransientRun::spec_of(const std::string& role, int number, int index_in_role,
                                 const Offer& offer) const {
  ServerSpec spec{.name = fmt::format("{}-{}-{}", plan_.spec.name, role, number),
                  .job = plan_.spec.name,
                  .role = role,
                  .index = number,
                  .offer = offer,
                  .labels = {{"job", plan_.spec.name}, {"role", role}}};
  spec.request_id = request_id_of(spec.name, static_cast<std::uint64_t>(plan_.spec.local.seed));
  const std::string part = role == "ps" ? "shard" : role;
  spec.startup = fmt::format("exec {} member {} --name {} --role {}", shell_word(plan_.trainer),
                             shell_word(plan_.folder), shell_word(spec.name), part);
  if (role == "ps") spec.startup += fmt::format(" --index {}", index_in_role);
  if (!trains(role)) return spec;
  spec.startup += " --may-lead";
  const double cores = cores_of(plan_.cores, offer);
  if (cores > 0) spec.startup += fmt::format(" --cores {}", cores);
  return spec;
}

Status TransientRun::add(const ServerSpec& spec, int index_in_role) {
  const auto same = same_on_demand(plan_.prices, spec.offer);
  TRY(ledger_.add_server(spec, same ? std::optional(same->price_usd_per_hour) : std::nullopt));
  places_[spec.name] = {.server = {.spec = spec}, .index_in_role = index_in_role};
  return {};
}

Status TransientRun::begin() {
  std::vector<std::string> prepare = {plan_.trainer};
  const std::vector<std::string> arguments = prepare_arguments(plan_);
  prepare.insert(prepare.end(), arguments.begin(), arguments.end());
  TRY(run_tool(prepare));
  began_ = saved_ = provider_.now();
  const std::int64_t steps = plan_.spec.training.steps;
  TRY(ledger_.start_job(
      {.name = plan_.spec.name,
       .description = fmt::format("{} on {}", plan_.spec.training.model, plan_.spec.training.data),
       .steps_target = steps > 0 ? std::optional(steps) : std::nullopt,
       .started = began_}));
  std::vector<ServerSpec> specs;
  for (const ServerPlace& place : plan_.places) {
    specs.push_back(spec_of(place.role, place.index, place.index, place.offer));
    next_[trains(place.role) ? "worker" : place.role] = place.index + 1;
    TRY(add(specs.back(), place.index));
  }
  const auto made = provider_.create_all(specs, specs.size());
  if (made.ok()) return {};
  for (const ServerSpec& spec : specs) TRY(refused(spec.name, made.error()));
  TRY(ledger_.end_job(plan_.spec.name, provider_.now(), "failed", 0));
  return made.error();
}

// The provider has no events of a server that it refused.
Status TransientRun::refused(const std::string& name, const Error& why) {
  const ServerEvent event{
      .at = provider_.now(),
      .kind = ServerEvent::Kind::Failed,
      .server = name,
      .reason = why.code == Code::ResourceExhausted ? EndReason::StockOut : EndReason::LaunchError,
      .detail = why.message};
  TRY(ledger_.record(event));
  return apply(places_.at(name).server, event);
}

Result<bool> TransientRun::step() {
  TRY_ASSIGN(const std::vector<ServerEvent> events, provider_.events_after(sequence_));
  for (const ServerEvent& event : events) {
    sequence_ = event.sequence;
    TRY(take_event(event));
  }
  TRY(record_run());
  if (folder_.result()) return true;
  if (!stopping_) TRY(replace_missing());
  TRY(save_if_due());
  return false;
}

Status TransientRun::take_event(const ServerEvent& event) {
  const auto found = places_.find(event.server);
  if (found == places_.end()) return {};  // of another job
  Place& place = found->second;
  TRY(ledger_.record(event, event.kind == ServerEvent::Kind::Running ? "local" : ""));
  TRY(apply(place.server, event));
  if (event.kind == ServerEvent::Kind::Notice) return noticed(place);
  if (!has_ended(place.server)) return {};
  if (event.kind == ServerEvent::Kind::Revoked) ++revocations_;
  return lost(place);
}

// A worker leaves by itself, and a chief hands over. Only what a parameter server holds is lost.
Status TransientRun::noticed(const Place& place) {
  if (place.server.spec.role != "ps") return {};
  const Time now = provider_.now();
  const double unit = steps_per_s_of_unit();
  const Duration step = from_seconds(unit > 0 ? 1 / unit : 0);
  if (!saves_on_notice(save_took_, step, place.server.deadline - now, now - saved_)) return {};
  return save("a parameter server has a notice");
}

Status TransientRun::lost(Place& place) {
  place.replaced = place.server.end_reason == EndReason::Completed;
  return hand_over_lease(place);
}

// The provider knows that the chief is gone, so no member has to wait for its lease to run out.
Status TransientRun::hand_over_lease(const Place& gone) {
  TRY_ASSIGN(const ChiefLease lease, lease_.read());
  if (lease.epoch == 0 || lease.holder != gone.server.spec.name) return {};
  std::vector<ChiefCandidate> members;
  std::vector<const std::string*> names;
  for (const auto& [name, place] : places_) {
    if (!trains(place.server.spec.role) || !is_up(place.server)) continue;
    members.push_back({.server = &place.server,
                       .lifetime = lifetime_of(plan_.lifetimes, place.server.spec.offer)});
    names.push_back(&name);
  }
  const auto next = choose_chief(members, provider_.now(), kChiefWindow);
  return lease_.release(lease.epoch, next ? *names[*next] : "");
}

Status TransientRun::replace_missing() {
  if (provider_.now() < refused_until_) return {};
  std::vector<Place*> missing;
  for (auto& [name, place] : places_) {
    if (has_ended(place.server) && !place.replaced) missing.push_back(&place);
  }
  for (Place* const place : missing) TRY(replace(*place));
  return {};
}

Status TransientRun::replace(Place& gone) {
  const std::string& role = gone.server.spec.role;
  Offer offer = gone.server.spec.offer;
  if (trains(role)) {
    const ReplacementChoice choice = choose(gone);
    if (!choice.candidate) {
      gone.replaced = true;
      return {};
    }
    offer = candidates()[*choice.candidate].offer;
  }
  const std::string next_role = trains(role) ? "worker" : role;
  const ServerSpec spec = spec_of(next_role, next_[next_role]++, gone.index_in_role, offer);
  gone.replaced = true;
  TRY(add(spec, gone.index_in_role));
  const auto made = provider_.create_all({spec}, 1);
  if (made.ok()) return {};
  const Code code = made.error().code;
  if (code != Code::ResourceExhausted && code != Code::Unavailable) return made.error();
  // It is asked for again, under another name, when a while has passed.
  refused_until_ = provider_.now() + kRefusalPause;
  return refused(spec.name, made.error());
}

double TransientRun::speed_of(const Offer& offer) const {
  const auto found = plan_.spec.speeds.find(offer.gpu);
  if (found != plan_.spec.speeds.end()) return found->second;
  return plan_.spec.speeds.empty() ? 1 : 0;
}

// Steps a second of the provider for one unit of speed, as measured.
double TransientRun::steps_per_s_of_unit() const {
  double units = 0;
  for (const auto& [name, place] : places_) {
    if (trains(place.server.spec.role) && is_up(place.server))
      units += speed_of(place.server.spec.offer);
  }
  if (!(units > 0) || !(standing_.at_s > 0)) return 0;
  return static_cast<double>(standing_.gradients) / (standing_.at_s * plan_.compression) / units;
}

// Spot and on-demand offers with a GPU whose speed is known, in the zones of the job's workers.
std::vector<ReplacementCandidate> TransientRun::candidates() const {
  const double unit = std::max(steps_per_s_of_unit(), 1e-9);
  std::vector<ReplacementCandidate> found;
  for (const Offer& offer : plan_.prices.offers) {
    const bool of_the_job = std::ranges::any_of(plan_.places, [&offer](const ServerPlace& place) {
      return trains(place.role) && place.offer.zone == offer.zone && place.offer.gpu == offer.gpu &&
             place.offer.gpus == offer.gpus;
    });
    const bool of_known_speed = plan_.spec.speeds.contains(offer.gpu) && offer.gpus == 1;
    if (!of_the_job && !of_known_speed) continue;
    const Lifetime* const expected = lifetime_of(plan_.lifetimes, offer);
    found.push_back({.offer = offer,
                     .steps_per_s = unit * speed_of(offer),
                     .startup = plan_.startup,
                     .lifetime = expected != nullptr ? *expected : Lifetime::exponential(0)});
  }
  return found;
}

RemainingWork TransientRun::remaining() const {
  RemainingWork work{.usd_per_hour_of_time = plan_.spec.usd_per_hour_of_time,
                     .losses = revocations_};
  const double unit = std::max(steps_per_s_of_unit(), 1e-9);
  const std::int64_t steps = plan_.spec.training.steps;
  // Without a limit, as much again as has been done.
  const std::int64_t of = steps > 0 ? steps : 2 * std::max<std::int64_t>(standing_.gradients, 1);
  work.steps = static_cast<double>(std::max<std::int64_t>(1, of - standing_.gradients));
  for (const auto& [name, place] : places_) {
    if (has_ended(place.server)) continue;
    const Offer& offer = place.server.spec.offer;
    work.usd_per_hour += offer.price_usd_per_hour;
    if (trains(place.server.spec.role)) work.sum_steps_per_s += unit * speed_of(offer);
  }
  return work;
}

ReplacementChoice TransientRun::choose(const Place& gone) const {
  const auto rule = replacement_rule_of(plan_.spec.replacement).value_or(ReplacementRule::Cheapest);
  const std::vector<ReplacementCandidate> from = candidates();
  ReplacementChoice choice = choose_replacement(rule, remaining(), gone.server.spec.offer, from);
  // Without any worker the job would wait for ever.
  const bool alone = std::ranges::none_of(places_, [](const auto& place) {
    return trains(place.second.server.spec.role) && !has_ended(place.second.server);
  });
  if (choice.candidate || !alone || rule == ReplacementRule::GoOn) return choice;
  return choose_replacement(ReplacementRule::Same, remaining(), gone.server.spec.offer, from);
}

Status TransientRun::record_run() {
  if (const auto standing = folder_.standing()) standing_ = *standing;
  const Time now = provider_.now();
  for (const MembershipRow& row : folder_.new_memberships()) {
    TRY(ledger_.record(LedgerMembership{.job = plan_.spec.name,
                                        .epoch = ++membership_epochs_,
                                        .at = now,
                                        .workers = row.workers,
                                        .rate_scale = row.rate_factor}));
  }
  for (const SavedRow& row : folder_.new_checkpoints()) {
    save_took_ = from_seconds(row.save_s * plan_.compression);
    saved_ = now;
    TRY(ledger_.record(LedgerCheckpoint{.job = plan_.spec.name,
                                        .step = row.gradients,
                                        .bytes = row.bytes,
                                        .save = save_took_,
                                        .at = now}));
  }
  return {};
}

// Of losing what parameter servers hold. Workers and chiefs lose nothing.
double TransientRun::hazard_per_h() const {
  double hazard = 0;
  for (const auto& [name, place] : places_) {
    if (place.server.spec.role != "ps" || !is_up(place.server)) continue;
    const Lifetime* const lifetime = lifetime_of(plan_.lifetimes, place.server.spec.offer);
    if (lifetime == nullptr) continue;
    hazard += lifetime->hazard_per_h(std::max(Duration{}, provider_.now() - place.server.running));
  }
  return hazard;
}

Status TransientRun::save_if_due() {
  if (!standing_.training || stopping_) return {};
  const double hazard = hazard_per_h();
  TRY_ASSIGN(const Duration most, parse_duration(plan_.spec.checkpoint_most));
  const Duration asked =
      std::isfinite(hazard) ? checkpoint_interval(save_took_, hazard) : Duration{};
  // The first save shows how long one takes. No more than one is asked for in a second of training.
  const Duration least = from_seconds(plan_.compression);
  const Duration interval =
      save_took_ == Duration{} ? least : std::max(least, std::min(asked, most));
  if (provider_.now() - saved_ < interval) return {};
  return save("it is time");
}

Status TransientRun::save(std::string_view /*why*/) {
  saved_ = provider_.now();
  return folder_.order(++saves_, stopping_);
}

Status TransientRun::ask_to_stop() {
  stopping_ = true;
  return folder_.order(saves_, true);
}

int TransientRun::live_servers() const {
  return static_cast<int>(
      std::ranges::count_if(places_, [](const auto& place) { return is_up(place.second.server); }));
}

Result<TransientSummary> TransientRun::end() {
  stopping_ = true;
  const auto text = folder_.result();
  const auto result = nlohmann::json::parse(text.value_or(""), nullptr, false);
  const EndReason reason = text ? EndReason::Completed : EndReason::ClusterStop;
  for (const auto& [name, place] : places_) {
    if (has_ended(place.server)) continue;
    if (const Status stopped = provider_.stop(name, reason); !stopped.ok()) {
      if (stopped.error().code != Code::NotFound) return stopped.error();
    }
  }
  TRY_ASSIGN(const std::vector<ServerEvent> events, provider_.events_after(sequence_));
  for (const ServerEvent& event : events) {
    sequence_ = event.sequence;
    const auto found = places_.find(event.server);
    if (found == places_.end()) continue;
    TRY(ledger_.record(event));
    TRY(apply(found->second.server, event));
  }
  TRY(record_run());
  TransientSummary summary{.job = plan_.spec.name,
                           .ended = "it was stopped before it was over",
                           .training_s = standing_.at_s,
                           .hours = seconds(provider_.now() - began_) / 3600,
                           .steps = standing_.gradients,
                           .accuracy = standing_.accuracy,
                           .revocations = revocations_,
                           .chiefs = standing_.epoch,
                           .membership_epochs = membership_epochs_,
                           .folder = plan_.folder,
                           .ledger = ledger_.path()};
  if (result.is_object()) {
    if (result.contains("failure") && result["failure"].is_string()) {
      summary.failure = result["failure"];
    }
    if (result.contains("ended") && result["ended"].is_string()) summary.ended = result["ended"];
    if (result.contains("final_accuracy") && result["final_accuracy"].is_number()) {
      summary.accuracy = result["final_accuracy"].get<double>();
    }
    if (result.contains("time_to_target_s") && result["time_to_target_s"].is_number()) {
      summary.time_to_target_s = result["time_to_target_s"].get<double>();
    }
  }
  const auto resumed = folder_.resumptions();
  summary.from_checkpoint = resumed.from_checkpoint;
  summary.from_shards = resumed.from_shards;
  const bool whole = summary.failure.empty() && text.has_value();
  TRY(ledger_.end_job(plan_.spec.name, provider_.now(), whole ? "completed" : "failed",
                      summary.steps));
  TRY_ASSIGN(const std::vector<LedgerJob> jobs, ledger_.jobs());
  TRY_ASSIGN(const std::vector<LedgerServer> servers, ledger_.servers(plan_.spec.name));
  TRY_ASSIGN(const std::vector<LedgerCheckpoint> saved, ledger_.checkpoints(plan_.spec.name));
  summary.checkpoints = std::ssize(saved);
  for (const JobCost& cost : job_costs(jobs, servers, provider_.now())) {
    if (cost.job.name != plan_.spec.name) continue;
    summary.servers = cost.servers;
    summary.usd = cost.usd;
    summary.on_demand_usd = cost.on_demand_usd;
    summary.saving_pct = saving_pct(cost);
  }
  return summary;
}

}  // namespace orrery
