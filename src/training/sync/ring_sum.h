#pragma once

namespace orrery {

// Messages each member of a group sends for one sum, the way Gloo's cube does it: members meet in
// groups of two as often as their number halves, then all that are left at once. Each sends every
// other of such a group a part; there and back. 6 for 8 members, 12 for 7.
int messages_of_sum(int members);

// What the sum of a ring takes: every link carries all parameters nearly twice and the
// slowest sets the pace, and each message takes a while beside its bytes.
double ring_sum_s(int members, double slowest_way_s, double message_s);

}  // namespace orrery
