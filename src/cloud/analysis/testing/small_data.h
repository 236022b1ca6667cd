#pragma once

#include <string>

#include "base/test_folder.h"

namespace orrery {

// Writes published data of our own, small, with every kind of file and fault: CRLF, files without a
// last line end, a repeated step 0, truncated runs, wrong costs, a database without `revoked` and
// one that was relabelled. Folders transient/ and cm-dare/ appear in `folder`.
void write_small_data(const TestFolder& folder);

}  // namespace orrery
