#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "live/agent/job_conversation.h"
#include "live/agent/job_message.h"
#include "live/job_runner/launch.h"
#include "model/time.h"

namespace orrery {

// A launch may say this many messages in a burst and this many a second in the long run; a new
// connection counts as one.
inline constexpr int kJobMessageBurst = 1000;
inline constexpr int kJobMessagesPerSecond = 100;

// Where jobs that want to talk are heard: one Unix socket for each launch, all in one directory.
//
// Belongs to one thread, has none of its own and never waits. What it holds for a launch is
// bounded: one client that has said hello (a later one takes its place), four that have not, a
// line of each, and what they do not fetch. A client that breaks the rules gets the reason and is
// closed; one that says too much is not heard again, and its job goes on as one without a socket.
//
// The directory is the agent's, and only the agent writes to it; each socket is the job's user's,
// mode 0600. So no other user can speak for the job, and no user can put another file in its place.
// Sockets are left behind when this object goes: the agent that takes over listens at the same
// paths, and clients find it there.
class JobSockets {
 public:
  static Result<JobSockets> open(const std::string& directory);

  // For launch.socket, before the job is started. Refused where the system's limit of 107 bytes is
  // too short for it.
  Result<std::string> path(const Launch& launch) const;
  // Listens at launch.socket, for a job that is about to start or was adopted.
  Status listen(const Launch& launch);
  // For a job that has ended: the socket is removed, and what was not read yet is lost.
  void close(const std::string& launch);

  // Readable, for poll(), when on_ready() has something to do.
  int fd() const { return epoll_.get(); }
  // Takes in what has arrived, at most 64 KiB from each connection, and appends what was said.
  // `now` is of any clock that does not go back; it bounds the rate of messages.
  void on_ready(Duration now, std::vector<JobWord>& words);

  // Sends to the launch's job. False if no client listens at the moment; one that says hello later,
  // or again, then gets the last stop (PrepareStop or StopAt) and the last resize.
  bool say(const std::string& launch, const JobMessage& message);
  bool listening(const std::string& launch) const;  // a client there has said hello

  std::int64_t ignored() const { return ignored_; }  // messages of unknown kinds, in all

 private:
  using Id = std::uint64_t;  // of a listener or a connection, never used twice

  struct Client {
    Id id = 0;
    Fd fd{};
    JobConversation talk;
    std::string unsent{};
  };
  struct Post {
    Launch launch{};
    Id id = 0;
    Fd listener{};
    std::vector<Client> clients{};  // oldest first
    Id speaker = 0;                 // the client that has said hello; 0: none
    std::string stop{};             // lines for the next client that says hello
    std::string resize{};
    double budget = kJobMessageBurst;
    Duration counted{};  // up to when the budget has grown
  };

  JobSockets(std::string directory, Fd epoll, Fd spare)
      : directory_(std::move(directory)), epoll_(std::move(epoll)), spare_(std::move(spare)) {}

  void accept(Post& post);
  void read(Post& post, Id id, std::vector<JobWord>& words);
  void greet(Post& post, Id id);
  void send(Post& post, Id id, const std::string& line);
  void drop(Post& post, Id id);
  void silence(Post& post, std::vector<JobWord>& words);
  bool watch(int fd, Id id, const std::string& launch);

  std::string directory_;
  Fd epoll_;
  Fd spare_;  // closed for a moment to refuse a client that finds no free descriptor
  std::map<std::string, Post> posts_{};
  std::map<Id, std::string> launches_{};  // by listener or connection
  Id next_id_ = 1;
  std::int64_t ignored_ = 0;
};

}  // namespace orrery
