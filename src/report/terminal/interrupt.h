#pragma once

#include <atomic>

namespace orrery {

// Ctrl-C and a polite kill set a flag instead of ending the program; a second one ends it.
void catch_interrupts();
const std::atomic<bool>& interrupted();

}  // namespace orrery
