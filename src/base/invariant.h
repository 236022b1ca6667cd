#pragma once

#include <cstdio>
#include <cstdlib>

// States what must hold here. A failed INVARIANT is a bug in this program, never bad input, so it
// stops the process in every build type.
#define INVARIANT(condition, why)                                                    \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: %s [%s]\n", __FILE__, __LINE__, why, #condition); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)
