#include "algorithms/matching/blossom.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace orrery {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;
constexpr int kNone = -1;
constexpr int kUnknown = -2;

}  // namespace

// Duals move uniformly while a search runs: those of outer vertices fall, those of inner ones
// rise, now_ counts by how much. Instead of touching them at each step, dual_ of an outer vertex
// holds its dual plus now_, that of an inner vertex its dual minus now_; blossoms do the same
// with twice now_ and the signs reversed. Each event of a search then has a fixed time.
//
// Weights are doubled, and tight edges join duals of equal parity. All times are whole numbers.

template <class Visit>
void Blossom::each_vertex(int node, Visit visit) const {
  const int last = nodes_[node].last;
  for (int v = nodes_[node].first; v != last; v = next_vertex_[v]) visit(v);
  visit(last);
}

std::span<const int> Blossom::match(std::span<const int> kind_of,
                                    std::span<const std::int64_t> weights, int kinds) {
  prepare(kind_of, weights, kinds);
  for (int v = 0; v < vertices_; ++v) {
    const Weight* weight = &weights_[kind_[v] * kinds_];
    Weight most = 0;
    for (int other = 0; other < kinds_; ++other) {
      const int members = first_member_[other + 1] - first_member_[other];
      if (members > (other == kind_[v] ? 1 : 0)) most = std::max(most, weight[other]);
    }
    dual_[v] = most / 2;
  }
  for (int v = 0; v < vertices_; ++v) {
    const Weight* weight = &weights_[kind_[v] * kinds_];
    for (int other = v + 1; partner_[v] < 0 && other < vertices_; ++other) {
      const Weight edge = weight[kind_[other]];
      if (edge == 0 || partner_[other] >= 0 || dual_[v] + dual_[other] != edge) continue;
      partner_[v] = other;
      partner_[other] = v;
    }
  }
  run();
  return partner_;
}

std::span<const int> Blossom::improve(std::span<const int> kind_of,
                                      std::span<const std::int64_t> weights, int kinds,
                                      std::span<const std::int64_t> dual_of,
                                      std::span<const int> partners) {
  prepare(kind_of, weights, kinds);
  for (int v = 0; v < vertices_; ++v) {
    dual_[v] = dual_of[kind_[v]];
    partner_[v] = partners[v];
  }
  run();
  return partner_;
}

void Blossom::prepare(std::span<const int> kind_of, std::span<const std::int64_t> weights,
                      int kinds) {
  vertices_ = static_cast<int>(kind_of.size());
  kinds_ = kinds;
  kind_.assign(kind_of.begin(), kind_of.end());
  weights_.resize(weights.size());
  std::ranges::transform(weights, weights_.begin(), [](Weight w) { return w > 0 ? 2 * w : 0; });
  const int blossoms = vertices_ / 2 + 1;
  const auto grown = [](auto& values, int size) {
    if (std::ssize(values) < size) values.resize(size);
  };
  for (auto* values : {&top_, &next_vertex_, &member_}) grown(*values, vertices_);
  for (auto* values : {&open_, &reach_from_, &best_from_}) grown(*values, kinds_);
  for (auto* values : {&dual_, &reach_, &best_}) grown(*values, std::max(vertices_, kinds_));
  grown(label_, vertices_);
  grown(nodes_, vertices_ + blossoms);
  grown(mark_, vertices_ + blossoms);
  grown(rows_, blossoms * kinds_);
  partner_.assign(vertices_, -1);
  free_ids_.clear();
  for (int b = vertices_ + blossoms - 1; b >= vertices_; --b) free_ids_.push_back(b);
  for (int v = 0; v < vertices_; ++v) {
    Node& node = nodes_[v];
    node.parent = -1;
    node.base = node.first = node.last = v;
    node.label = Open;
    top_[v] = v;
  }
  first_member_.assign(kinds_ + 2, 0);
  for (const int kind : kind_) ++first_member_[kind + 2];
  std::partial_sum(first_member_.begin(), first_member_.end(), first_member_.begin());
  for (int v = 0; v < vertices_; ++v) member_[first_member_[kind_[v] + 1]++] = v;
}

void Blossom::run() {
  for (int v = 0; v < vertices_; ++v) {
    if (partner_[v] < 0 && dual_[v] > 0) search(top_[v]);
  }
}

void Blossom::search(int root) {
  now_ = 0;
  zero_at_ = kNever;
  outer_.clear();
  outer_vertices_.clear();
  inner_.clear();
  std::fill_n(reach_.begin(), kinds_, kNever);
  std::fill_n(open_.begin(), kinds_, kUnknown);
  std::fill_n(label_.begin(), vertices_, Open);
  set_outer(root);
  scan(root);
  while (step()) continue;
  finish();
}

// Returns whether the search goes on.
bool Blossom::step() {
  Weight soonest = zero_at_;
  enum { Zero, Grow, Shrink, Expand } what = Zero;
  int which = zero_vertex_;
  for (int kind = 0; kind < kinds_; ++kind) {
    if (open_[kind] == kUnknown) find_open(kind);
    if (open_[kind] >= 0 && reach_[kind] + dual_[open_[kind]] < soonest) {
      soonest = reach_[kind] + dual_[open_[kind]];
      what = Grow;
      which = open_[kind];
    }
  }
  std::erase_if(outer_, [&](int node) { return nodes_[node].parent >= 0; });
  for (const int node : outer_) {
    if (nodes_[node].meet_at < 2 * soonest) {
      soonest = nodes_[node].meet_at / 2;
      what = Shrink;
      which = node;
    }
  }
  std::erase_if(inner_,
                [&](int node) { return nodes_[node].parent >= 0 || nodes_[node].label != Inner; });
  for (const int node : inner_) {
    if (nodes_[node].dual < 2 * soonest) {
      soonest = nodes_[node].dual / 2;
      what = Expand;
      which = node;
    }
  }
  now_ = soonest;
  switch (what) {
    case Zero:
      rematch(which, kNone);  // without a dual it may as well stay alone
      return false;
    case Grow: {
      const int partner = reach_from_[kind_[which]];
      if (partner_[nodes_[top_[which]].base] < 0) {
        rotate(top_[which], which);
        partner_[which] = partner;
        rematch(partner, which);
        return false;
      }
      grow(partner, which);
      return true;
    }
    case Shrink:
      shrink(nodes_[which].meet_from, nodes_[which].meet_to);
      return true;
    case Expand:
      expand(which);
      return true;
  }
  return false;
}

void Blossom::find_open(int kind) {
  int cheapest = kNone;
  for (int at = first_member_[kind]; at < first_member_[kind + 1]; ++at) {
    const int v = member_[at];
    if (label_[v] == Open && (cheapest < 0 || dual_[v] < dual_[cheapest])) cheapest = v;
  }
  open_[kind] = cheapest;
}

void Blossom::grow(int from, int to) {
  const int node = top_[to];
  nodes_[node].tail = from;
  nodes_[node].head = to;
  set_inner(node);
  const int mate = top_[partner_[nodes_[node].base]];
  set_outer(mate);
  scan(mate);
}

// From open; the other ways to become outer or inner are in shrink() and expand().
void Blossom::set_outer(int node) {
  nodes_[node].label = Outer;
  if (is_blossom(node)) nodes_[node].dual -= 2 * now_;
  each_vertex(node, [&](int v) {
    label_[v] = Outer;
    dual_[v] += now_;
    if (open_[kind_[v]] == v) open_[kind_[v]] = kUnknown;
    outer_vertices_.push_back(v);
  });
  outer_.push_back(node);
}

void Blossom::set_inner(int node) {
  nodes_[node].label = Inner;
  each_vertex(node, [&](int v) {
    label_[v] = Inner;
    dual_[v] -= now_;
    if (open_[kind_[v]] == v) open_[kind_[v]] = kUnknown;
  });
  if (is_blossom(node)) {
    nodes_[node].dual += 2 * now_;
    inner_.push_back(node);
  }
}

void Blossom::scan(int node) {
  std::fill_n(best_.begin(), kinds_, kNever);
  each_vertex(node, [&](int v) { offer(v); });
  settle(node);
}

void Blossom::offer(int vertex) {
  const Weight dual = dual_[vertex];
  if (dual < zero_at_) {
    zero_at_ = dual;
    zero_vertex_ = vertex;
  }
  const Weight* weight = &weights_[kind_[vertex] * kinds_];
  for (int kind = 0; kind < kinds_; ++kind) {
    const Weight reach = dual - weight[kind];
    if (reach < best_[kind]) {
      best_[kind] = reach;
      best_from_[kind] = vertex;
    }
  }
}

void Blossom::offer_row(int blossom) {
  const int* nearest = row(blossom);
  for (int kind = 0; kind < kinds_; ++kind) {
    const Weight reach = dual_[nearest[kind]] - weights_[kind_[nearest[kind]] * kinds_ + kind];
    if (reach < best_[kind]) {
      best_[kind] = reach;
      best_from_[kind] = nearest[kind];
    }
  }
}

// Ends the scan of a node that is outer from now on.
void Blossom::settle(int node) {
  for (int kind = 0; kind < kinds_; ++kind) {
    if (best_[kind] < reach_[kind]) {
      reach_[kind] = best_[kind];
      reach_from_[kind] = best_from_[kind];
    }
  }
  Weight meet_at = kNever;
  int meet_to = kNone;
  for (const int v : outer_vertices_) {
    if (best_[kind_[v]] + dual_[v] < meet_at && top_[v] != node) {
      meet_at = best_[kind_[v]] + dual_[v];
      meet_to = v;
    }
  }
  nodes_[node].meet_at = meet_at;
  nodes_[node].meet_to = meet_to;
  if (meet_to >= 0) nodes_[node].meet_from = best_from_[kind_[meet_to]];
  if (is_blossom(node)) std::copy_n(best_from_.begin(), kinds_, row(node));
}

// The edge from a node of the tree towards the root: (inside, outside).
std::pair<int, int> Blossom::link_up(int node) const {
  if (nodes_[node].label == Inner) return {nodes_[node].head, nodes_[node].tail};
  return {nodes_[node].base, partner_[nodes_[node].base]};
}

// The outer node two steps closer to the root; -1 above the root.
int Blossom::above(int outer) const {
  const int mate = partner_[nodes_[outer].base];
  return mate < 0 ? -1 : top_[nodes_[top_[mate]].tail];
}

int Blossom::common_ancestor(int a, int b) {
  ++mark_now_;
  while (true) {
    if (a >= 0) {
      if (mark_[a] == mark_now_) return a;
      mark_[a] = mark_now_;
      a = above(a);
    }
    std::swap(a, b);
  }
}

void Blossom::collect_path(int from, int ancestor, std::vector<int>& path) const {
  path.clear();
  for (int node = from; node != ancestor; node = top_[link_up(node).second]) path.push_back(node);
}

void Blossom::link_cycle(int blossom, int a, int b, int ancestor) {
  collect_path(top_[a], ancestor, path_a_);
  collect_path(top_[b], ancestor, path_b_);
  const auto join = [&](int from, int to, int link_here, int link_to) {
    nodes_[from].next = to;
    nodes_[to].prev = from;
    nodes_[from].link_here = link_here;
    nodes_[from].link_to = link_to;
  };
  int last = ancestor;
  for (auto node = path_a_.rbegin(); node != path_a_.rend(); ++node) {
    const auto [inside, outside] = link_up(*node);
    join(last, *node, outside, inside);
    last = *node;
  }
  join(last, top_[b], a, b);
  for (const int node : path_b_) {
    const auto [inside, outside] = link_up(node);
    join(node, top_[outside], inside, outside);
  }
  nodes_[blossom].child = ancestor;
}

void Blossom::shrink(int a, int b) {
  const int ancestor = common_ancestor(top_[a], top_[b]);
  const int blossom = free_ids_.back();
  free_ids_.pop_back();
  link_cycle(blossom, a, b, ancestor);

  Node& whole = nodes_[blossom];
  whole.parent = -1;
  whole.base = nodes_[ancestor].base;
  whole.label = Outer;
  whole.dual = -2 * now_;
  whole.first = nodes_[ancestor].first;
  std::fill_n(best_.begin(), kinds_, kNever);
  int child = ancestor;
  do {
    Node& part = nodes_[child];
    const bool was_outer = part.label == Outer;
    if (is_blossom(child)) part.dual += was_outer ? 2 * now_ : -2 * now_;
    each_vertex(child, [&](int v) {
      if (!was_outer) {
        label_[v] = Outer;
        dual_[v] += 2 * now_;
        outer_vertices_.push_back(v);
      }
      if (!was_outer || !is_blossom(child)) offer(v);
      top_[v] = blossom;
    });
    if (was_outer && is_blossom(child)) offer_row(child);
    part.parent = blossom;
    whole.last = part.last;
    child = part.next;
    next_vertex_[whole.last] = nodes_[child].first;
  } while (child != ancestor);
  settle(blossom);
  outer_.push_back(blossom);
}

void Blossom::expand(int blossom) {
  int child = nodes_[blossom].child;
  do {
    nodes_[child].parent = -1;
    nodes_[child].label = Open;
    each_vertex(child, [&](int v) {
      top_[v] = child;
      label_[v] = Open;
      dual_[v] += now_;
      open_[kind_[v]] = kUnknown;
    });
    child = nodes_[child].next;
  } while (child != nodes_[blossom].child);
  label_path(blossom);
  nodes_[blossom].label = Open;
  free_ids_.push_back(blossom);
}

// The way through an expanded blossom from where the tree reached it to its base stays in the tree.
void Blossom::label_path(int blossom) {
  const int base_child = nodes_[blossom].child;
  int child = top_[nodes_[blossom].head];
  int steps = 0;
  for (int c = base_child; c != child; c = nodes_[c].next) ++steps;
  const bool forward = steps % 2 == 1;
  const auto link = [&](int from) {  // (inside from, inside the child after it)
    if (forward) return std::pair(nodes_[from].link_here, nodes_[from].link_to);
    const Node& before = nodes_[nodes_[from].prev];
    return std::pair(before.link_to, before.link_here);
  };
  path_a_.clear();
  nodes_[child].tail = nodes_[blossom].tail;
  nodes_[child].head = nodes_[blossom].head;
  set_inner(child);
  while (child != base_child) {
    const int outer = forward ? nodes_[child].next : nodes_[child].prev;
    set_outer(outer);
    path_a_.push_back(outer);
    const auto [inside, outside] = link(outer);
    child = forward ? nodes_[outer].next : nodes_[outer].prev;
    nodes_[child].tail = inside;
    nodes_[child].head = outside;
    set_inner(child);
  }
  for (const int outer : path_a_) scan(outer);
}

int Blossom::child_with(int blossom, int vertex) const {
  int node = vertex;
  while (nodes_[node].parent != blossom) node = nodes_[node].parent;
  return node;
}

// Makes the vertex the base of the node around it.
void Blossom::rotate(int node, int vertex) {
  if (!is_blossom(node) || nodes_[node].base == vertex) return;
  const int start = child_with(node, vertex);
  rotate(start, vertex);
  const int base_child = nodes_[node].child;
  int steps = 0;
  for (int c = base_child; c != start; c = nodes_[c].next) ++steps;
  const auto pair_up = [&](int child) {  // with its next sibling
    const int here = nodes_[child].link_here;
    const int there = nodes_[child].link_to;
    rotate(child, here);
    rotate(nodes_[child].next, there);
    partner_[here] = there;
    partner_[there] = here;
  };
  int child = start;
  while (child != base_child) {
    if (steps % 2 == 1) {
      child = nodes_[child].next;
      pair_up(child);
      child = nodes_[child].next;
    } else {
      child = nodes_[nodes_[child].prev].prev;
      pair_up(child);
    }
  }
  nodes_[node].child = start;
  nodes_[node].base = vertex;
}

// Gives an outer vertex a new partner, and those it leaves behind, up to the root, theirs.
void Blossom::rematch(int vertex, int partner) {
  while (true) {
    const int node = top_[vertex];
    const int left = partner_[nodes_[node].base];
    rotate(node, vertex);
    partner_[vertex] = partner;
    if (left < 0) return;
    const Node& inner = nodes_[top_[left]];
    rotate(top_[left], inner.head);
    partner_[inner.head] = inner.tail;
    vertex = inner.tail;
    partner = inner.head;
  }
}

void Blossom::finish() {
  for (int v = 0; v < vertices_; ++v) {
    if (label_[v] == Outer) dual_[v] -= now_;
    if (label_[v] == Inner) dual_[v] += now_;
  }
  for (std::vector<int>* list : {&outer_, &inner_}) {
    const Weight moved = list == &outer_ ? 2 * now_ : -2 * now_;
    const Label label = list == &outer_ ? Outer : Inner;
    for (const int node : *list) {
      if (nodes_[node].parent >= 0 || nodes_[node].label != label) continue;
      nodes_[node].label = Open;
      if (!is_blossom(node)) continue;
      nodes_[node].dual += moved;
      if (nodes_[node].dual == 0) dissolve(node);
    }
  }
}

void Blossom::dissolve(int blossom) {
  const int first = nodes_[blossom].child;
  int child = first;
  do {
    const int next = nodes_[child].next;
    nodes_[child].parent = -1;
    nodes_[child].label = Open;
    each_vertex(child, [&](int v) { top_[v] = child; });
    if (is_blossom(child) && nodes_[child].dual == 0) dissolve(child);
    child = next;
  } while (child != first);
  free_ids_.push_back(blossom);
}

}  // namespace orrery
