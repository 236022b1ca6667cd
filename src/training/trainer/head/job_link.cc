#include "training/trainer/head/job_link.h"

#include <orrery_job.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace orrery {

struct JobLink::Inside {
  orrery_job::Job job{};
};

JobLink::JobLink() : inside_(std::make_unique<Inside>()) {}
JobLink::~JobLink() = default;

bool JobLink::is_job() const {
  const char* const socket = std::getenv("ORRERY_SOCKET");
  return socket != nullptr && *socket != '\0';
}
std::string JobLink::checkpoint_folder() const { return inside_->job.checkpoint_dir(); }
bool JobLink::resumed() const { return inside_->job.resumed(); }

int JobLink::gpus() const {
  const char* const listed = std::getenv("ORRERY_GPUS");
  if (!is_job() || listed == nullptr || *listed == '\0') return 0;
  const std::string_view names = listed;
  return 1 + static_cast<int>(std::ranges::count(names, ','));
}

void JobLink::progress(std::int64_t batches, std::int64_t of, double loss, std::int64_t samples) {
  inside_->job.progress(batches, of, loss, static_cast<double>(samples));
}

void JobLink::checkpointed(std::int64_t batches) { inside_->job.checkpointed(batches); }
bool JobLink::should_stop(std::int64_t batches) { return inside_->job.should_stop(batches); }
void JobLink::close(bool finished) { inside_->job.close(finished); }

}  // namespace orrery
