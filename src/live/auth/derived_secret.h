#pragma once

#include <string>
#include <string_view>

#include "live/auth/secret.h"

namespace orrery {

// A secret for one purpose, from a key that stays secret: the same key and purpose always give the
// same 64 hexadecimal digits, and these reveal nothing about those of another purpose.
Secret derived_secret(const Secret& key, std::string_view purpose);

}  // namespace orrery
