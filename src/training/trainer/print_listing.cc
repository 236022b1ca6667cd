#include "training/trainer/print_listing.h"

#include <cerrno>
#include <cstdio>

#include "base/files.h"

namespace orrery {

Status print_listing(Listing listing, const ListArguments& arguments) {
  TRY_ASSIGN(const std::string text, to_text(std::move(listing), arguments, 0));
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return {};
  return system_error("standard output cannot be written", errno);
}

}  // namespace orrery
