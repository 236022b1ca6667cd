#pragma once

namespace orrery {

// Of this process; 0 where the system does not tell.
double resident_bytes();

}  // namespace orrery
