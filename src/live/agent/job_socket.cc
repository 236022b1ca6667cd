#include "live/agent/job_socket.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/socket_file.h"
#include "live/job_runner/job_user.h"

namespace orrery {
namespace {

constexpr std::size_t kMostWaiting = 4;  // connections without a hello
constexpr std::size_t kMostUnsent = 64 * 1024;
constexpr std::size_t kPiece = 64 * 1024;

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return invalid(path + ": " + std::to_string(path.size()) + " bytes, and a socket's path has " +
                   "at most " + std::to_string(sizeof address.sun_path - 1) +
                   "; choose a shorter directory for the agent's state");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<Fd> listen_at(const std::string& path, const std::string& user) {
  TRY_ASSIGN(const sockaddr_un address, address_of(path));
  TRY_ASSIGN(const auto owner, find_job_user(user));
  TRY(remove_old_socket(path));
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.ok()) return system_error("a socket for " + path, errno);
  // The file gets this mode when it is made, so there is no instant at which it has another.
  if (::fchmod(fd.get(), 0600) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return system_error(path, errno);
  }
  if ((owner && ::lchown(path.c_str(), owner->uid, owner->gid) != 0) ||
      ::listen(fd.get(), 8) != 0) {
    const int number = errno;
    ::unlink(path.c_str());
    return system_error(path, number);
  }
  return fd;
}

}  // namespace

Result<JobSockets> JobSockets::open(const std::string& directory) {
  // Others may walk through it to their own socket, not look around.
  if (::mkdir(directory.c_str(), 0711) != 0 && errno != EEXIST) {
    return system_error(directory, errno);
  }
  struct stat found {};
  if (::lstat(directory.c_str(), &found) != 0) return system_error(directory, errno);
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid()) {
    return Error{Code::FailedPrecondition,
                 directory + ": must be a directory of the agent's own; remove it"};
  }
  if (::chmod(directory.c_str(), 0711) != 0) return system_error(directory, errno);
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.ok()) return system_error("epoll", errno);
  Fd spare(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!spare.ok()) return system_error("/dev/null", errno);
  return JobSockets(directory, std::move(epoll), std::move(spare));
}

Result<std::string> JobSockets::path(const Launch& launch) const {
  const std::string path = directory_ + "/" + launch_name(launch);
  TRY_ASSIGN(const sockaddr_un fits, address_of(path));
  return std::string(fits.sun_path);
}

Status JobSockets::listen(const Launch& launch) {
  const std::string name = launch_name(launch);
  if (posts_.contains(name)) return Error{Code::AlreadyExists, name + ": is listened to already"};
  TRY_ASSIGN(Fd listener, listen_at(launch.socket, launch.user));
  const Id id = next_id_++;
  if (!watch(listener.get(), id, name)) return system_error(launch.socket, errno);
  Post& post = posts_[name];
  post.launch = launch;
  post.id = id;
  post.listener = std::move(listener);
  return {};
}

void JobSockets::close(const std::string& launch) {
  const auto found = posts_.find(launch);
  if (found == posts_.end()) return;
  Post& post = found->second;
  while (!post.clients.empty()) drop(post, post.clients.back().id);
  if (post.listener.ok()) ::unlink(post.launch.socket.c_str());
  launches_.erase(post.id);
  posts_.erase(found);
}

void JobSockets::on_ready(Duration now, std::vector<JobWord>& words) {
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const Id id = events[static_cast<std::size_t>(i)].data.u64;
    const auto found = launches_.find(id);
    if (found == launches_.end()) continue;  // closed by an event before this one
    Post& post = posts_.at(found->second);
    const Duration passed = std::max(Duration::zero(), now - post.counted);
    post.budget = std::min(static_cast<double>(kJobMessageBurst),
                           post.budget + seconds(passed) * kJobMessagesPerSecond);
    post.counted = std::max(post.counted, now);
    if (id == post.id) {
      accept(post);
    } else {
      if ((events[static_cast<std::size_t>(i)].events & EPOLLOUT) != 0) send(post, id, "");
      read(post, id, words);
    }
    if (post.budget < 1) silence(post, words);
  }
}

bool JobSockets::say(const std::string& launch, const JobMessage& message) {
  const auto found = posts_.find(launch);
  if (found == posts_.end()) return false;
  Post& post = found->second;
  const std::string line = message_line(message);
  (std::holds_alternative<ResizeNotice>(message) ? post.resize : post.stop) = line;
  if (post.speaker == 0) return false;
  send(post, post.speaker, line);
  return post.speaker != 0;
}

bool JobSockets::listening(const std::string& launch) const {
  const auto found = posts_.find(launch);
  return found != posts_.end() && found->second.speaker != 0;
}

void JobSockets::accept(Post& post) {
  Fd fd(::accept4(post.listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.ok()) {
    if (errno != EMFILE && errno != ENFILE) return;
    // Left in the queue it would keep us awake for nothing.
    spare_.close();
    fd = Fd(::accept(post.listener.get(), nullptr, nullptr));
    fd.close();
    spare_ = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return;
  }
  post.budget -= 1;
  const std::size_t waiting = post.clients.size() - (post.speaker != 0 ? 1 : 0);
  if (waiting >= kMostWaiting) {
    const auto oldest = std::ranges::find_if(
        post.clients, [&](const Client& client) { return client.id != post.speaker; });
    drop(post, oldest->id);
  }
  const Id id = next_id_++;
  if (!watch(fd.get(), id, launch_name(post.launch))) return;
  post.clients.push_back({.id = id,
                          .fd = std::move(fd),
                          .talk = JobConversation(post.launch.gang.rank),
                          .unsent = {}});
}

void JobSockets::read(Post& post, Id id, std::vector<JobWord>& words) {
  const auto client = std::ranges::find(post.clients, id, &Client::id);
  if (client == post.clients.end()) return;
  std::array<char, kPiece> piece;
  const ssize_t size = ::recv(client->fd.get(), piece.data(), piece.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const std::string name = launch_name(post.launch);
  const bool spoke = post.speaker == id;
  if (size <= 0) {
    drop(post, id);
    if (spoke) {
      words.push_back({.launch = name, .rank = post.launch.gang.rank, .kind = JobWord::Kind::Gone});
    }
    return;
  }
  const bool greeted = client->talk.greeted();
  const std::int64_t ignored = client->talk.ignored();
  const std::size_t first = words.size();
  const int budget = static_cast<int>(post.budget);
  int left = budget;
  const Status status =
      client->talk.take({piece.data(), static_cast<std::size_t>(size)}, left, words);
  post.budget -= budget - left;
  ignored_ += client->talk.ignored() - ignored;
  const bool over = client->talk.over();
  for (std::size_t i = first; i < words.size(); ++i) words[i].launch = name;
  if (client->talk.greeted() && !greeted) greet(post, id);
  if (!status.ok() && status.error().code == Code::ResourceExhausted) {
    post.budget = 0;
    return;
  }
  if (!status.ok()) {
    send(post, id, error_line(status.error().message));
    if (post.speaker == id) {
      words.push_back({.launch = name,
                       .rank = post.launch.gang.rank,
                       .kind = JobWord::Kind::Gone,
                       .message = status.error().message});
    }
  }
  if (!status.ok() || over) drop(post, id);
}

void JobSockets::greet(Post& post, Id id) {
  if (const Id before = std::exchange(post.speaker, id); before != 0) {
    send(post, before, error_line("another connection of this job took its place"));
    drop(post, before);
  }
  send(post, id, welcome_line(post.launch) + post.resize + post.stop);
}

void JobSockets::send(Post& post, Id id, const std::string& line) {
  const auto client = std::ranges::find(post.clients, id, &Client::id);
  if (client == post.clients.end()) return;
  const bool waited = !client->unsent.empty();
  client->unsent += line;
  while (!client->unsent.empty()) {
    const ssize_t sent = ::send(client->fd.get(), client->unsent.data(), client->unsent.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) {
      client->unsent.clear();  // read() will find that the client has gone
      break;
    }
    if (sent < 0) break;
    client->unsent.erase(0, static_cast<std::size_t>(sent));
  }
  if (client->unsent.size() > kMostUnsent) {
    drop(post, id);
    return;
  }
  if (waited == client->unsent.empty()) {
    epoll_event event{};
    event.events = client->unsent.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
    event.data.u64 = id;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, client->fd.get(), &event);
  }
}

void JobSockets::drop(Post& post, Id id) {
  if (post.speaker == id) post.speaker = 0;
  launches_.erase(id);
  std::erase_if(post.clients, [id](const Client& client) { return client.id == id; });
}

void JobSockets::silence(Post& post, std::vector<JobWord>& words) {
  const std::string why = "more than " + std::to_string(kJobMessagesPerSecond) +
                          " messages a second; this job is not heard any more";
  while (!post.clients.empty()) {
    const Id id = post.clients.back().id;
    send(post, id, error_line(why));
    drop(post, id);
  }
  post.listener.close();
  ::unlink(post.launch.socket.c_str());
  words.push_back({.launch = launch_name(post.launch),
                   .rank = post.launch.gang.rank,
                   .kind = JobWord::Kind::Silenced,
                   .message = why});
}

bool JobSockets::watch(int fd, Id id, const std::string& launch) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return false;
  launches_[id] = launch;
  return true;
}

}  // namespace orrery
