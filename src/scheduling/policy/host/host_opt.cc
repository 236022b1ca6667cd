#include "scheduling/policy/host/host_opt.h"

#include <algorithm>

#include "scheduling/policy/host/host_assignment.h"

namespace orrery {
namespace {

class Opt final : public HostAllocator {
 public:
  explicit Opt(HostWeight weight) : weight_(weight) {}

  void seat(Hosting& hosting, std::span<const Asker> askers, std::size_t /*same*/) override {
    hosting_ = &hosting;
    assignment_.begin(hosting);
    const HostCapacity capacity = capacity_in(ledger());
    kinds_.begin(capacity);
    choose(askers);
    all_.clear();
    for (HostRequest& request : requests_) all_.push_back(&request);
    share_out(all_, capacity.total);
    assignment_.seat(requests_);
    fill_gaps(askers);
    raise_wide();
    raise();
  }

 private:
  Ledger& ledger() { return hosting_->ledger(); }

  // The jobs for which there are GPUs, in the order given.
  void choose(std::span<const Asker> askers) {
    requests_.clear();
    chosen_.assign(askers.size(), false);
    int left = ledger().gpus_total();
    for (std::size_t i = 0; i < askers.size(); ++i) {
      const Asker& asker = askers[i];
      chosen_[i] = asker.gpus.gpus <= left;
      if (chosen_[i]) {
        left -= asker.gpus.gpus;
        add(asker);
      } else if (asker.stays != nullptr) {
        ledger().release(*asker.stays, asker.gpus);
      }
    }
  }

  HostRequest& add(const Asker& asker) {
    const int kind = kinds_.find(asker);
    const HostShare& minimum =
        kinds_[kind].cells[static_cast<std::size_t>(kinds_[kind].minimum)].share;
    return requests_.emplace_back(
        HostRequest{.asker = &asker, .kind = kind, .minimum = minimum, .meant = minimum});
  }

  // Stage 1, of the cluster or of one server. Among equals, those in front have the faster cells.
  // False if there is not even what they can do with.
  bool share_out(std::span<HostRequest* const> requests, const HostShare& capacity) {
    jobs_.assign(kinds_.all().size(), 0);
    for (const HostRequest* request : requests) ++jobs_[static_cast<std::size_t>(request->kind)];
    auto counts = choose_cells(kinds_.all(), jobs_, capacity, weight_);
    if (!counts) return false;
    for (HostRequest* request : requests) {
      std::vector<int>& left = (*counts)[static_cast<std::size_t>(request->kind)];
      const auto cell = std::ranges::find_if(left, [](int count) { return count > 0; });
      --*cell;
      request->meant =
          kinds_[request->kind].cells[static_cast<std::size_t>(cell - left.begin())].share;
    }
    return true;
  }

  // Where a chosen job found no CPUs, others may have the GPUs.
  void fill_gaps(std::span<const Asker> askers) {
    for (std::size_t i = 0; i < askers.size() && ledger().gpus_free() > 0; ++i) {
      if (chosen_[i] || askers[i].gpus.gpus > ledger().gpus_free()) continue;
      assignment_.seat_anywhere(add(askers[i]));
    }
  }

  // Those on several servers first: on one, the others can make do with what is left there.
  void raise_wide() {
    for (const HostRequest& request : requests_) {
      if (request.seat < 0 || request.node >= 0) continue;
      const std::span<const HostCell> cells = kinds_[request.kind].cells;
      const auto meant = std::ranges::find(cells, request.meant, &HostCell::share);
      assignment_.raise(request, cells.subspan(static_cast<std::size_t>(meant - cells.begin())));
    }
  }

  // From what they can do with to what they are meant to have. Where that does not fit one server,
  // others have more to give than was expected, so that all share again.
  void raise() {
    const auto count = static_cast<std::size_t>(ledger().node_count());
    on_nodes_.assign(count, {});
    capacities_.clear();
    for (int node = 0; node < ledger().node_count(); ++node) {
      capacities_.push_back({ledger().free_cpu_milli(node), ledger().free_memory_bytes(node)});
    }
    std::vector<HostShare> meant(count);
    for (HostRequest& request : requests_) {
      if (request.node < 0) continue;
      const auto node = static_cast<std::size_t>(request.node);
      on_nodes_[node].push_back(&request);
      capacities_[node] += hosting_->seat(static_cast<std::uint32_t>(request.seat)).held();
      meant[node] += request.meant;
    }
    bool fits = true;
    for (std::size_t node = 0; node < count; ++node) {
      fits = fits && within(meant[node], capacities_[node]);
    }
    for (std::size_t node = 0; node < count; ++node) {
      if (!fits && !share_out(on_nodes_[node], capacities_[node])) continue;
      // Down before up, so that nothing is held twice in between.
      for (HostRequest* request : on_nodes_[node])
        change(*request, lesser(request->minimum, request->meant));
      for (HostRequest* request : on_nodes_[node]) change(*request, request->meant);
    }
  }

  void change(const HostRequest& request, const HostShare& held) {
    hosting_->change(static_cast<std::uint32_t>(request.seat), held);
  }

  const HostWeight weight_;
  Hosting* hosting_ = nullptr;
  HostKinds kinds_;
  HostAssignment assignment_;
  std::vector<HostRequest> requests_;
  std::vector<HostRequest*> all_;
  std::vector<char> chosen_;  // by asker
  std::vector<int> jobs_;     // by kind
  std::vector<std::vector<HostRequest*>> on_nodes_;
  std::vector<HostShare> capacities_;  // by node: what the requests on it can share
};

}  // namespace

std::unique_ptr<HostAllocator> make_opt(HostWeight weight) { return std::make_unique<Opt>(weight); }

}  // namespace orrery
