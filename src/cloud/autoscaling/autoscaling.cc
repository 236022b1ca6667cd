#include "cloud/autoscaling/autoscaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace orrery {
namespace {

// The servers of one plan: those that are held, and those that it adds.
class Fleet {
 public:
  Fleet(const AutoscalingView& view, const AutoscalingOptions& options)
      : view_(view), options_(options) {
    spent_ = view.ended_cost_usd;
    for (const HeldServer& server : view.held) {
      spent_ += server.cost_usd;
      rate_ += server.offer.price_usd_per_hour;
      ++zones_[server.offer.zone];
      if (server.leaving) continue;
      free_.push_back(
          {server.offer, server.joined ? server.gpus_free : server.offer.gpus, server.name});
    }
  }

  std::size_t size() const { return view_.held.size() + added_; }
  double rate() const { return rate_; }
  double spent() const { return spent_; }
  // What is committed once every server has been stopped from now on.
  double committed() const { return spent_ + rate_ * seconds(options_.stop_time) / 3600; }

  // Takes the GPUs of `job` from what is free; a job on several servers stays in one zone.
  bool place(const WaitingJob& job) {
    Free* best = nullptr;
    for (Free& free : free_) {
      if (!fits_type(free.offer, job) || free.gpus < job.gpus) continue;
      if (best == nullptr || free.gpus < best->gpus) best = &free;
    }
    if (best != nullptr) return take(*best, job.gpus), true;
    for (const auto& [zone, count] : zones_) {
      if (place_across(job, zone)) return true;
    }
    return false;
  }

  // Adds what `job` needs. False: no offer, or a limit or the budget binds; shortage() says
  // which.
  bool grow(const WaitingJob& job) {
    bool urgent = job.start_latest <= view_.now;
    const Offer* chosen = choose(job, urgent);
    if (chosen == nullptr && urgent) chosen = choose(job, urgent = false);
    if (chosen == nullptr) {
      shortage_ =
          job.gpu_type.empty()
              ? "no offer with GPUs has capacity now"
              : fmt::format("no offer with GPUs of type '{}' has capacity now", job.gpu_type);
      return false;
    }
    const auto count = static_cast<std::size_t>((job.gpus + chosen->gpus - 1) / chosen->gpus);
    if (!may_add(*chosen, count)) return false;
    created_.push_back({*chosen, static_cast<int>(count), count > 1});
    added_ += count;
    int wanted = job.gpus;
    for (std::size_t i = 0; i < count; ++i) {
      const int taken = std::min(wanted, chosen->gpus);
      wanted -= taken;
      rate_ += chosen->price_usd_per_hour;
      ++zones_[chosen->zone];
      free_.push_back({*chosen, chosen->gpus - taken, ""});
    }
    return true;
  }

  // Servers that no waiting job was placed on.
  bool is_needed(const HeldServer& server) const {
    const auto found = std::ranges::find(free_, server.name, &Free::server);
    return found != free_.end() && found->taken;
  }

  std::vector<AutoscalingPlan::Creation> take_created() { return std::move(created_); }
  std::string take_shortage() { return std::move(shortage_); }

 private:
  struct Free {
    Offer offer;
    int gpus = 0;
    std::string server;
    bool taken = false;
  };

  static bool fits_type(const Offer& offer, const WaitingJob& job) {
    return offer.gpus > 0 && (job.gpu_type.empty() || offer.gpu == job.gpu_type);
  }

  static void take(Free& free, int gpus) {
    free.gpus -= gpus;
    free.taken = true;
  }

  bool place_across(const WaitingJob& job, const std::string& zone) {
    std::vector<Free*> parts;
    int found = 0;
    for (Free& free : free_) {
      if (free.offer.zone != zone || !fits_type(free.offer, job) || free.gpus == 0) continue;
      parts.push_back(&free);
      found += free.gpus;
    }
    if (found < job.gpus) return false;
    int wanted = job.gpus;
    for (Free* part : parts) {
      const int taken = std::min(wanted, part->gpus);
      if (taken > 0) take(*part, taken);
      wanted -= taken;
    }
    return true;
  }

  bool is_paused(const Offer& offer) const {
    const auto found = view_.stock_outs.find(offer_key(offer));
    return found != view_.stock_outs.end() && view_.now < found->second + options_.stock_out_pause;
  }

  int servers_in(const std::string& zone) const {
    const auto found = zones_.find(zone);
    return found == zones_.end() ? 0 : found->second;
  }

  // The price of each GPU that the job uses, then servers in the zone, then the name.
  const Offer* choose(const WaitingJob& job, bool urgent) const {
    const Offer* best = nullptr;
    const auto key = [&](const Offer& offer) {
      const int count = (job.gpus + offer.gpus - 1) / offer.gpus;
      return std::tuple(offer.price_usd_per_hour * count / job.gpus, servers_in(offer.zone),
                        offer_key(offer));
    };
    for (const Offer& offer : view_.offers) {
      if (!fits_type(offer, job) || is_paused(offer)) continue;
      if (urgent && offer.offer_class == OfferClass::Spot) continue;
      if (best == nullptr || key(offer) < key(*best)) best = &offer;
    }
    return best;
  }

  bool may_add(const Offer& offer, std::size_t count) {
    const double added = offer.price_usd_per_hour * static_cast<double>(count);
    if (size() + count > static_cast<std::size_t>(std::max(options_.servers_max, 0))) {
      shortage_ =
          fmt::format("{} servers are held, and the limit is {}", size(), options_.servers_max);
      return false;
    }
    if (rate_ + added > options_.budget_usd_per_hour * (1 + 1e-12)) {
      shortage_ = fmt::format("{:.2f} USD an hour would exceed the budget of {:.2f}", rate_ + added,
                              options_.budget_usd_per_hour);
      return false;
    }
    const double until_useful =
        (rate_ + added) * seconds(options_.life_min + options_.stop_time) / 3600;
    if (spent_ + until_useful > options_.budget_usd) {
      shortage_ = fmt::format(
          "{:.2f} of {:.2f} USD are spent; the rest is not enough for one more server for {:.0f} s",
          spent_, options_.budget_usd, seconds(options_.life_min));
      return false;
    }
    return true;
  }

  const AutoscalingView& view_;
  const AutoscalingOptions& options_;
  std::vector<Free> free_;
  std::vector<AutoscalingPlan::Creation> created_;
  std::size_t added_ = 0;
  std::map<std::string, int> zones_;
  double rate_ = 0;
  double spent_ = 0;
  std::string shortage_;
};

// All servers stop if the next instant of decision could be too late for the budget.
void stop_all(const AutoscalingView& view, const AutoscalingOptions& options,
              AutoscalingPlan& plan) {
  for (const HeldServer& server : view.held) {
    if (server.leaving) continue;
    plan.stop.push_back(
        {server.name, fmt::format("the budget of {:.2f} USD is spent", options.budget_usd)});
  }
  plan.shortage = fmt::format("the budget of {:.2f} USD is spent", options.budget_usd);
}

void stop_idle(const AutoscalingView& view, const AutoscalingOptions& options, const Fleet& fleet,
               AutoscalingPlan& plan) {
  std::vector<const HeldServer*> idle;
  for (const HeldServer& server : view.held) {
    if (server.leaving || server.idle_since == kNever || fleet.is_needed(server)) continue;
    const Time end = server.idle_since + options.idle_max;
    if (end <= view.now) {
      idle.push_back(&server);
    } else {
      plan.wake_at = std::min(plan.wake_at, end);
    }
  }
  std::ranges::sort(idle, [](const HeldServer* a, const HeldServer* b) {
    return std::pair(-a->offer.price_usd_per_hour, std::string_view(a->name)) <
           std::pair(-b->offer.price_usd_per_hour, std::string_view(b->name));
  });
  auto left = static_cast<std::int64_t>(std::ranges::count(view.held, false, &HeldServer::leaving));
  for (const HeldServer* server : idle) {
    if (left-- <= options.servers_min) break;
    plan.stop.push_back(
        {server->name, fmt::format("idle for {:.0f} s", seconds(view.now - server->idle_since))});
  }
}

}  // namespace

std::string offer_key(const Offer& offer) {
  return fmt::format("{}/{}/{}", offer.zone, offer.machine_type, text_of(offer.offer_class));
}

AutoscalingPlan plan_servers(const AutoscalingView& view, const AutoscalingOptions& options) {
  AutoscalingPlan plan;
  Fleet fleet(view, options);
  if (fleet.committed() >= options.budget_usd) {
    stop_all(view, options, plan);
    return plan;
  }
  if (fleet.rate() > 0 && std::isfinite(options.budget_usd)) {
    const double hours = (options.budget_usd - fleet.committed()) / fleet.rate();
    plan.wake_at = view.now + from_seconds(hours * 3600);
  }
  for (const WaitingJob& job : view.waiting) {
    if (!fleet.place(job) && !fleet.grow(job)) plan.shortage = fleet.take_shortage();
  }
  const WaitingJob any;
  while (fleet.size() < static_cast<std::size_t>(std::max(options.servers_min, 0)) &&
         fleet.grow(any)) {
  }
  plan.create = fleet.take_created();
  for (const auto& [offer, at] : view.stock_outs) {
    if (at + options.stock_out_pause > view.now) {
      plan.wake_at = std::min(plan.wake_at, at + options.stock_out_pause);
    }
  }
  stop_idle(view, options, fleet, plan);
  return plan;
}

}  // namespace orrery
