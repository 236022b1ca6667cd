#pragma once

#include <string>
#include <vector>

#include "base/test_folder.h"
#include "live/client/testing/fake_client.h"

namespace orrery {

// A folder with what a running scheduler leaves in its state directory.
class StateFolder : public TestFolder {
 public:
  StateFolder() { write("address", "127.0.0.1:7077\n"); }
};

// `orrery WORDS` against the fake scheduler. An error of parsing is InvalidArgument.
Status call(FakeCommandContext& fake, std::vector<std::string> words,
            const std::vector<std::string>& program = {});

}  // namespace orrery
