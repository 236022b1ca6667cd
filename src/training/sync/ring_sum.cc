#include "training/sync/ring_sum.h"

namespace orrery {

int messages_of_sum(int members) {
  int messages = 0;
  for (; members > 1 && members % 2 == 0; members /= 2) messages += 2;
  return messages + 2 * (members - 1);
}

double ring_sum_s(int members, double slowest_way_s, double message_s) {
  if (members < 2) return 0;
  const double ways = 2.0 * (members - 1) / members;
  return ways * slowest_way_s + messages_of_sum(members) * message_s;
}

}  // namespace orrery
