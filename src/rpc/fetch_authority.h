#pragma once

#include <string>

#include "base/result.h"

namespace orrery {

// The certificate of the authority that a server shows, as PEM: the last of its chain. Nothing of
// it is checked here; whoever asks must know it by its fingerprint.
Result<std::string> fetch_authority(const std::string& address);

}  // namespace orrery
