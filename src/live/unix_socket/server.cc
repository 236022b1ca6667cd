#include "live/unix_socket/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "base/connection_limits.h"
#include "live/unix_socket/calls.h"
#include "live/unix_socket/frame.h"
#include "live/unix_socket/mailbox.h"
#include "live/unix_socket/socket.h"

namespace orrery {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Instant = SteadyClock::time_point;

constexpr std::size_t kPiece = 64 * 1024;

struct Connection {
  std::uint64_t id = 0;
  uid_t uid = 0;
  Fd fd{};
  Caller caller{};
  FrameReader reader;
  std::string unsent{};
  std::size_t sent = 0;
  bool asked = false;  // a call is under way; nothing is read meanwhile
  bool over = false;
  std::optional<Instant> due{};  // by when the rest of a message has to be through
  Instant used{};

  bool idle() const { return !asked && unsent.empty() && !reader.midway(); }
};

// The last answer to a caller that is not served: what the socket does not take at once is lost.
void turn_away(const Fd& fd, const Error& error) {
  const std::string frame = error_frame(error);
  static_cast<void>(::send(fd.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

}  // namespace

struct UnixSocketServer::Parts {
  Parts(UnixSocketServerOptions given, Api& asked, Fd listening, Fd bell)
      : options(std::move(given)),
        api(asked),
        listener(std::move(listening)),
        mailbox(std::make_shared<Mailbox>(std::move(bell))) {}

  void run();
  void wait(std::vector<pollfd>& fds) const;
  void accept();
  Status admit_connection(uid_t uid, bool admin);
  void read(Connection& connection);
  void take_calls(Connection& connection);
  void ask(Connection& connection, const Frame& frame);
  void send(Connection& connection, std::string frame);
  void flush(Connection& connection);
  void end_if_late(Connection& connection, Instant now);
  Connection* find(std::uint64_t id);

  const UnixSocketServerOptions options;
  Api& api;
  Fd listener;
  const std::shared_ptr<Mailbox> mailbox;
  std::vector<Connection> connections;  // by id
  std::uint64_t last_id = 0;
  bool no_descriptors = false;  // for another connection, until one ends or a while has passed
  std::atomic<std::int64_t> taken = 0;
  std::atomic<std::int64_t> calls = 0;
  std::atomic<std::int64_t> refused = 0;
  std::atomic<std::int64_t> broken = 0;
  std::atomic<std::int64_t> timed_out = 0;
  std::thread thread;
};

void UnixSocketServer::Parts::wait(std::vector<pollfd>& fds) const {
  fds.clear();
  fds.push_back({.fd = mailbox->bell(), .events = POLLIN, .revents = 0});
  fds.push_back({.fd = no_descriptors ? -1 : listener.get(), .events = POLLIN, .revents = 0});
  std::optional<Instant> due;
  for (const Connection& connection : connections) {
    short events = connection.asked ? POLLRDHUP : POLLIN;
    if (!connection.unsent.empty()) events = POLLOUT;
    fds.push_back({.fd = connection.fd.get(), .events = events, .revents = 0});
    if (connection.due) due = std::min(due.value_or(*connection.due), *connection.due);
  }
  int most = no_descriptors ? 1000 : -1;
  if (due) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - SteadyClock::now());
    most = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
  }
  ::poll(fds.data(), fds.size(), most);
}

void UnixSocketServer::Parts::run() {
  std::vector<pollfd> fds;
  while (!mailbox->closed()) {
    wait(fds);
    no_descriptors = false;
    const std::size_t known = connections.size();
    for (std::size_t i = 0; i < known; ++i) {
      Connection& connection = connections[i];
      const short events = fds[i + 2].revents;
      if (events == 0) continue;
      if ((events & POLLOUT) != 0) {
        flush(connection);
        take_calls(connection);
      } else if ((events & POLLIN) != 0 && !connection.asked) {
        read(connection);
      } else {
        connection.over = true;
      }
    }
    for (Mailbox::Letter& letter : mailbox->take()) {
      if (Connection* to = find(letter.to); to != nullptr && !to->over) {
        to->asked = false;
        send(*to, std::move(letter.frame));
        take_calls(*to);
      }
    }
    if ((fds[1].revents & POLLIN) != 0) accept();
    const Instant now = SteadyClock::now();
    for (Connection& connection : connections) end_if_late(connection, now);
    std::erase_if(connections, [](const Connection& connection) { return connection.over; });
  }
  connections.clear();
}

Connection* UnixSocketServer::Parts::find(std::uint64_t id) {
  const auto found = std::ranges::lower_bound(connections, id, {}, &Connection::id);
  return found == connections.end() || found->id != id ? nullptr : &*found;
}

void UnixSocketServer::Parts::accept() {
  Fd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.ok()) {
    no_descriptors = errno == EMFILE || errno == ENFILE;
    return;
  }
  ++taken;
  const auto uid = peer_uid(fd);
  if (!uid.ok()) return;
  auto caller = options.identify(uid.value());
  Status may = caller.ok()
                   ? admit_connection(uid.value(), caller.value().role == Caller::Role::Admin)
                   : Status(caller.error());
  if (!may.ok()) {
    ++refused;
    return turn_away(fd, may.error());
  }
  connections.push_back({.id = ++last_id,
                         .uid = uid.value(),
                         .fd = std::move(fd),
                         .caller = std::move(caller).value(),
                         .reader = FrameReader(options.message_bytes_max),
                         .used = SteadyClock::now()});
}

// So that no caller can keep others out by holding connections.
Status UnixSocketServer::Parts::admit_connection(uid_t uid, bool admin) {
  const Instant now = SteadyClock::now();
  std::vector<OpenConnection> open;
  std::vector<Connection*> whose;
  for (Connection& other : connections) {
    if (other.over) continue;
    const auto use = other.idle()                              ? OpenConnection::Use::Idle
                     : now - other.used > options.parked_after ? OpenConnection::Use::Parked
                                                               : OpenConnection::Use::Fresh;
    open.push_back({.peer = other.uid,
                    .privileged = other.caller.role == Caller::Role::Admin,
                    .use = use,
                    .since = other.used.time_since_epoch().count()});
    whose.push_back(&other);
  }
  const ConnectionAdmission admission =
      admit(open, uid, admin,
            {.total = static_cast<std::size_t>(options.connections_max),
             .per_peer = static_cast<std::size_t>(options.connections_of_one_max),
             .reserved = static_cast<std::size_t>(options.connections_reserved)});
  if (!admission.admitted) {
    return Error{Code::ResourceExhausted, "too many connections are busy; try again later"};
  }
  if (!admission.ends) return {};
  Connection& ends = *whose[*admission.ends];
  if (!ends.idle()) {
    ++refused;
    turn_away(ends.fd, {Code::ResourceExhausted,
                        "too many connections of this user or of all; "
                        "this one waited for longest, try again"});
  }
  ends.over = true;
  return {};
}

void UnixSocketServer::Parts::read(Connection& connection) {
  char piece[kPiece];
  const ssize_t size = ::recv(connection.fd.get(), piece, sizeof piece, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    if (connection.reader.midway()) ++broken;
    connection.over = true;
    return;
  }
  connection.reader.take({piece, static_cast<std::size_t>(size)});
  take_calls(connection);
}

void UnixSocketServer::Parts::take_calls(Connection& connection) {
  while (!connection.asked && !connection.over && connection.unsent.empty()) {
    auto frame = connection.reader.next();
    if (!frame.ok()) {
      ++broken;
      turn_away(connection.fd, frame.error());
      connection.over = true;
    } else if (frame.value()) {
      connection.due.reset();
      ask(connection, *frame.value());
    } else {
      if (!connection.reader.midway()) {
        connection.due.reset();
      } else if (!connection.due) {
        connection.due = SteadyClock::now() + options.patience;
      }
      return;
    }
  }
}

void UnixSocketServer::Parts::ask(Connection& connection, const Frame& frame) {
  ++calls;
  connection.used = SteadyClock::now();
  if (options.admit) {
    if (const Status may = options.admit(connection.caller); !may.ok()) {
      ++refused;
      return send(connection, error_frame(may.error()));
    }
  }
  connection.asked = true;
  answer_frame(
      api, connection.caller, frame,
      [box = mailbox, id = connection.id](std::string answer) { box->put(id, std::move(answer)); });
}

void UnixSocketServer::Parts::send(Connection& connection, std::string frame) {
  connection.unsent = std::move(frame);
  connection.sent = 0;
  flush(connection);
}

void UnixSocketServer::Parts::flush(Connection& connection) {
  while (connection.sent < connection.unsent.size()) {
    const ssize_t size =
        ::send(connection.fd.get(), connection.unsent.data() + connection.sent,
               connection.unsent.size() - connection.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EAGAIN) {
      connection.over = true;
      return;
    }
    // Each piece that is taken is a sign of life.
    if (size > 0 || !connection.due) connection.due = SteadyClock::now() + options.patience;
    if (size < 0) return;
    connection.sent += static_cast<std::size_t>(size);
  }
  connection.unsent.clear();
  connection.due.reset();
}

void UnixSocketServer::Parts::end_if_late(Connection& connection, Instant now) {
  if (!connection.due || *connection.due > now || connection.over) return;
  ++timed_out;
  if (connection.unsent.empty()) {
    turn_away(connection.fd, {Code::DeadlineExceeded, "the rest of the message did not come"});
  }
  connection.over = true;
}

Result<std::unique_ptr<UnixSocketServer>> UnixSocketServer::start(UnixSocketServerOptions options,
                                                                  Api& api) {
  INVARIANT(options.identify, "a server identifies its callers");
  TRY_ASSIGN(Fd listener, listen_at(options.path));
  Fd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell.ok()) return system_error("eventfd", errno);
  auto parts =
      std::make_unique<Parts>(std::move(options), api, std::move(listener), std::move(bell));
  parts->thread = std::thread([owner = parts.get()] { owner->run(); });
  return std::unique_ptr<UnixSocketServer>(new UnixSocketServer(std::move(parts)));
}

UnixSocketServer::UnixSocketServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
UnixSocketServer::~UnixSocketServer() { stop(); }

UnixSocketFigures UnixSocketServer::figures() const {
  return {.connections = parts_->taken,
          .calls = parts_->calls,
          .refused = parts_->refused,
          .broken = parts_->broken,
          .timed_out = parts_->timed_out};
}

void UnixSocketServer::stop() {
  if (!parts_->thread.joinable()) return;
  // First, so that no caller finds a socket that does not answer.
  ::unlink(parts_->options.path.c_str());
  parts_->mailbox->close();
  parts_->thread.join();
  parts_->listener.close();
}

}  // namespace orrery
