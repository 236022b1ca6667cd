#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cloud/gce/compute_api.h"

namespace orrery {

// Requests that failed or whose end is unknown. What they made, or will make, is removed.
class Removal {
 public:
  explicit Removal(ComputeApi& api) : api_(api) {}

  // From now on every instance that `request_id` made in `zone` is removed. `settled`: the request
  // can make no more.
  void condemn(const std::string& request_id, const std::string& zone, bool settled);
  bool is_condemned(std::string_view request_id) const { return requests_.contains(request_id); }

  // Removes what there is and forgets what is settled and gone. An error: not all could be asked.
  Status sweep();
  // Sweeps until all that there is goes away. False after `longest`: later sweeps continue.
  bool finish(Duration longest);

 private:
  struct Request {
    std::string zone{};
    bool settled = false;
    bool empty = false;  // True if its last list had nothing but what is stopping
    Time since{};
  };
  Status sweep_one(const std::string& request_id, Request& request);

  ComputeApi& api_;
  std::map<std::string, Request, std::less<>> requests_;
  std::int64_t calls_ = 0;
};

}  // namespace orrery
