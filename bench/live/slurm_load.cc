// slurm_load WHAT COUNT [THREADS]: puts load on the Slurm that SLURM_CONF names, through libslurm,
// and prints how many seconds it took.
//
//   submit   COUNT held jobs, one call each, from THREADS threads
//   array    one held array of COUNT jobs, in one call
//   empty    COUNT jobs that run /bin/true, submitted by THREADS threads, until all are complete
//   clear    cancels what is left; COUNT is not looked at
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

char script[] = "#!/bin/true\n";
char name[] = "true";
char nowhere[] = "/dev/null";
char root[] = "/";
char path[] = "PATH=/usr/bin:/bin";

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "slurm_load: %s: %s\n", what, slurm_strerror(slurm_get_errno()));
  std::exit(1);
}

// The number of the job; tries again where Slurm says that it has too much to do.
std::uint32_t submit(bool held, const std::string& array = {}) {
  char* environment[] = {path};
  std::string indices = array;
  job_desc_msg_t job;
  slurm_init_job_desc_msg(&job);
  job.name = name;
  job.script = script;
  job.work_dir = root;
  job.std_out = nowhere;
  job.std_err = nowhere;
  job.std_in = nowhere;
  job.environment = environment;
  job.env_size = 1;
  job.user_id = 0;
  job.group_id = 0;
  job.min_cpus = 1;
  if (held) job.priority = 0;
  if (!array.empty()) job.array_inx = indices.data();
  submit_response_msg_t* answer = nullptr;
  while (slurm_submit_batch_job(&job, &answer) != SLURM_SUCCESS) {
    if (slurm_get_errno() != EAGAIN) give_up("submit");
    std::this_thread::yield();
  }
  const std::uint32_t id = answer->job_id;
  slurm_free_submit_response_response_msg(answer);
  return id;
}

void submit_many(int count, int threads, bool held) {
  std::atomic<int> left = count;
  std::vector<std::thread> clients;
  for (int i = 0; i < threads; ++i) {
    clients.emplace_back([&] {
      while (--left >= 0) submit(held);
    });
  }
  for (std::thread& one : clients) one.join();
}

int unfinished() {
  job_info_msg_t* jobs = nullptr;
  if (slurm_load_jobs(0, &jobs, SHOW_ALL) != SLURM_SUCCESS) give_up("jobs");
  int open = 0;
  for (std::uint32_t i = 0; i < jobs->record_count; ++i) {
    const std::uint32_t state = jobs->job_array[i].job_state;
    if ((state & JOB_STATE_BASE) < JOB_COMPLETE || (state & JOB_COMPLETING) != 0) ++open;
  }
  slurm_free_job_info_msg(jobs);
  return open;
}

void wait_until_idle() {
  // Asking costs Slurm something, so not too often: at most a tenth of a second is added.
  while (unfinished() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

void clear() {
  job_info_msg_t* jobs = nullptr;
  if (slurm_load_jobs(0, &jobs, SHOW_ALL) != SLURM_SUCCESS) give_up("jobs");
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < jobs->record_count; ++i) {
    const slurm_job_info_t& job = jobs->job_array[i];
    if ((job.job_state & JOB_STATE_BASE) >= JOB_COMPLETE) continue;
    const std::uint32_t id = job.array_job_id != 0 ? job.array_job_id : job.job_id;
    if (id == last) continue;
    last = id;
    slurm_kill_job(id, SIGKILL, 0);
  }
  slurm_free_job_info_msg(jobs);
  wait_until_idle();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  if (count < 1 || threads < 1) {
    std::fprintf(stderr, "write slurm_load submit|array|empty|clear COUNT [THREADS]\n");
    return 2;
  }
  slurm_init(nullptr);
  const auto begin = Clock::now();
  if (what == "submit") {
    submit_many(count, threads, true);
  } else if (what == "array") {
    submit(true, "1-" + std::to_string(count));
  } else if (what == "empty") {
    submit_many(count, threads, false);
    wait_until_idle();
  } else if (what == "clear") {
    clear();
  } else {
    std::fprintf(stderr, "'%s': write submit, array, empty or clear\n", argv[1]);
    return 2;
  }
  std::printf("%.6f\n", std::chrono::duration<double>(Clock::now() - begin).count());
  slurm_fini();
  return 0;
}
