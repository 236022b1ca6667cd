#include "scheduling/policy/host/host_opt.h"

#include <algorithm>

#include "scheduling/policy/host/host_seating.h"

namespace orrery {
namespace {

class Opt final : public HostAllocator {
 public:
  explicit Opt(HostWeight weight) : weight_(weight) {}

  void seat(Hosting& hosting, std::span<const Asker> askers, std::size_t /*same*/) override {
    hosting_ = &hosting;
    seating_.begin(hosting);
    const HostRoom room = room_in(ledger());
    kinds_.begin(room);
    choose(askers);
    everybody_.clear();
    for (HostGuest& guest : guests_) everybody_.push_back(&guest);
    share_out(everybody_, room.total);
    seating_.seat(guests_);
    fill_gaps(askers);
    raise_wide();
    raise();
  }

 private:
  Ledger& ledger() { return hosting_->ledger(); }

  // Those for whom there are GPUs, in the order given.
  void choose(std::span<const Asker> askers) {
    guests_.clear();
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

  HostGuest& add(const Asker& asker) {
    const int kind = kinds_.find(asker);
    const HostShare& modest =
        kinds_[kind].cells[static_cast<std::size_t>(kinds_[kind].modest)].share;
    return guests_.emplace_back(
        HostGuest{.asker = &asker, .kind = kind, .modest = modest, .meant = modest});
  }

  // Stage 1, of the cluster or of one server. Among equals, those in front have the faster cells.
  // False if there is not even what they can do with.
  bool share_out(std::span<HostGuest* const> guests, const HostShare& room) {
    jobs_.assign(kinds_.all().size(), 0);
    for (const HostGuest* guest : guests) ++jobs_[static_cast<std::size_t>(guest->kind)];
    auto counts = choose_cells(kinds_.all(), jobs_, room, weight_);
    if (!counts) return false;
    for (HostGuest* guest : guests) {
      std::vector<int>& left = (*counts)[static_cast<std::size_t>(guest->kind)];
      const auto cell = std::ranges::find_if(left, [](int count) { return count > 0; });
      --*cell;
      guest->meant = kinds_[guest->kind].cells[static_cast<std::size_t>(cell - left.begin())].share;
    }
    return true;
  }

  // Where somebody chosen found no CPUs, others may have the GPUs.
  void fill_gaps(std::span<const Asker> askers) {
    for (std::size_t i = 0; i < askers.size() && ledger().gpus_free() > 0; ++i) {
      if (chosen_[i] || askers[i].gpus.gpus > ledger().gpus_free()) continue;
      seating_.seat_anywhere(add(askers[i]));
    }
  }

  // Those on several servers first: on one, the others can make do with what is left there.
  void raise_wide() {
    for (const HostGuest& guest : guests_) {
      if (guest.seat < 0 || guest.node >= 0) continue;
      const std::span<const HostCell> cells = kinds_[guest.kind].cells;
      const auto meant = std::ranges::find(cells, guest.meant, &HostCell::share);
      seating_.raise(guest, cells.subspan(static_cast<std::size_t>(meant - cells.begin())));
    }
  }

  // From what they can do with to what they are meant to have. Where that does not fit one server,
  // others have more to give than was foreseen, so that all share out anew.
  void raise() {
    const auto count = static_cast<std::size_t>(ledger().node_count());
    on_nodes_.assign(count, {});
    rooms_.clear();
    for (int node = 0; node < ledger().node_count(); ++node) {
      rooms_.push_back({ledger().free_cpu_milli(node), ledger().free_memory_bytes(node)});
    }
    std::vector<HostShare> meant(count);
    for (HostGuest& guest : guests_) {
      if (guest.node < 0) continue;
      const auto node = static_cast<std::size_t>(guest.node);
      on_nodes_[node].push_back(&guest);
      rooms_[node] += hosting_->seat(static_cast<std::uint32_t>(guest.seat)).held();
      meant[node] += guest.meant;
    }
    bool fits = true;
    for (std::size_t node = 0; node < count; ++node) {
      fits = fits && within(meant[node], rooms_[node]);
    }
    for (std::size_t node = 0; node < count; ++node) {
      if (!fits && !share_out(on_nodes_[node], rooms_[node])) continue;
      // Down before up, so that nothing is held twice in between.
      for (HostGuest* guest : on_nodes_[node]) change(*guest, lesser(guest->modest, guest->meant));
      for (HostGuest* guest : on_nodes_[node]) change(*guest, guest->meant);
    }
  }

  void change(const HostGuest& guest, const HostShare& held) {
    hosting_->change(static_cast<std::uint32_t>(guest.seat), held);
  }

  const HostWeight weight_;
  Hosting* hosting_ = nullptr;
  HostKinds kinds_;
  HostSeating seating_;
  std::vector<HostGuest> guests_;
  std::vector<HostGuest*> everybody_;
  std::vector<char> chosen_;  // by asker
  std::vector<int> jobs_;     // by kind
  std::vector<std::vector<HostGuest*>> on_nodes_;
  std::vector<HostShare> rooms_;  // by node: what the guests on it can share
};

}  // namespace

std::unique_ptr<HostAllocator> make_opt(HostWeight weight) { return std::make_unique<Opt>(weight); }

}  // namespace orrery
