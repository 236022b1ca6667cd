#pragma once

namespace orrery {

// Of this process; 0 where the system does not report it.
double resident_bytes();

}  // namespace orrery
