#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/rpc/client.h"
#include "system/process.h"

namespace orrery {

using Words = std::vector<std::string>;

// Looks again and again until it holds; false when the time is over.
bool eventually(const std::function<bool()>& holds,
                std::chrono::seconds patience = std::chrono::seconds(60));

// ORRERY_NIGHTLY=1 asks for the long runs.
int repetitions(int usually, int nightly);

// The built program beside the test, its standard error in a file. It is killed with this.
class Background {
 public:
  Background(const Words& arguments, std::string errors, const std::string& login = "");
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void kill();               // SIGKILL; it is gone when this returns
  int stop();                // SIGTERM; its exit code, -1 if a signal ended it
  std::optional<int> end();  // nothing while it runs
  std::string errors() const;
  std::string output() const;

 private:
  int wait();

  pid_t pid_ = -1;
  std::optional<int> end_;
  std::string errors_;
};

// A scheduler with what it needs below a folder of its own. All processes that the test has
// started, and their children, are killed at its end.
class LiveTest : public testing::Test {
 protected:
  LiveTest();
  ~LiveTest() override;

  std::string state() const { return folder_.file("state"); }
  std::string file(std::string_view name) const { return folder_.file(name); }

  // Starts the scheduler on the address it had before, and waits until it has one to answer at.
  std::unique_ptr<Background> serve(const Words& more, const std::string& login = "");
  std::string address() const;
  ClientOptions admin() const;  // the owner of the state directory
  StatusAnswer status() const;  // all jobs; fails the test where there is no answer
  std::optional<JobStatus> job(JobNumber id) const;
  std::optional<NodeStatus> node(const std::string& name) const;

  // Runs a command against this scheduler: `orrery WORDS[0] --state DIR WORDS[1..]`.
  Finished ask(const Words& words, const std::string& login = "") const;
  // Gets a token from the owner and a certificate for it; answers the folder it is in.
  std::string join(const std::string& role, const std::string& name);
  std::unique_ptr<Background> agent(const std::string& name, const Words& more = {},
                                    std::string server = "");

  // A job that says in a file that it runs, and fails loudly where another process of it does:
  // see ran() and clashes(). `work` comes between.
  JobRequest careful_job(const std::string& name, const std::string& work) const;
  // Lines "ID EPOCH", in the order in which they began.
  std::vector<std::string> ran() const;
  std::string clashes() const;
  void expect_idle();
  // Every job is Done, and ran once for each time it was given devices.
  void expect_all_done_once();

  const TestFolder folder_;

 private:
  int started_ = 0;
};

}  // namespace orrery
