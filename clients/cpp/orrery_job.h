// Talks to Orrery from inside a job: progress, checkpoints, and where to stop.
//
//   orrery_job::Job job;
//   long done = job.resumed() ? load(job.checkpoint_dir()) : 0;
//   while (done < total && !job.should_stop(done)) {
//     train();
//     job.progress(++done, total);
//   }
//   if (job.stopping()) {
//     save(job.checkpoint_dir(), done);
//     job.checkpointed(done);
//   }
//   job.close(!job.stopping());
//
// One header, C++17 and POSIX threads; copy it beside your program. Outside Orrery everything here
// does nothing, and should_stop() is always false. No call fails because the agent is away: a
// thread connects again by itself and says what is still true. The one call that can wait is
// should_stop(), and only between the scheduler's question and its answer, 30 seconds at most.
//
// An iteration's number is how many are done since the job first began, earlier runs included; all
// ranks count alike. The lines on the socket are described in docs/formats/job-protocol.md.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace orrery_job {

struct Options {
  std::int64_t every = 1;                  // should_stop() asks after each `every` iterations
  std::chrono::milliseconds hold{30'000};  // how long a rank waits for the others' agreement
  std::chrono::milliseconds between{100};  // two messages of progress
  std::chrono::milliseconds retry{50};     // the first time; doubled each time, up to
  std::chrono::milliseconds retry_most{5000};
};

namespace detail {

// The members of one JSON object: texts unescaped, everything else as it is written. Members that
// hold arrays or objects are passed over.
class Members {
 public:
  // False: not an object.
  bool read(const std::string& line) {
    text_ = &line;
    at_ = 0;
    values_.clear();
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      std::string key;
      std::string value;
      if (!read_text(key) || !take(':') || !read_value(value)) return false;
      values_[key] = value;
    } while (take(','));
    return take('}');
  }

  std::string text(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::string() : found->second;
  }
  // False: there is no such whole number.
  bool number(const std::string& key, std::int64_t& value) const {
    const std::string written = text(key);
    if (written.empty()) return false;
    char* end = nullptr;
    errno = 0;
    const long long read = std::strtoll(written.c_str(), &end, 10);
    if (errno != 0 || *end != '\0') return false;
    value = read;
    return true;
  }

 private:
  void skip_space() {
    while (at_ < text_->size() && std::strchr(" \t\r\n", (*text_)[at_])) ++at_;
  }
  bool take(char wanted) {
    skip_space();
    if (at_ >= text_->size() || (*text_)[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool read_text(std::string& text) {
    if (!take('"')) return false;
    while (at_ < text_->size()) {
      const char letter = (*text_)[at_++];
      if (letter == '"') return true;
      if (letter != '\\') {
        text += letter;
        continue;
      }
      if (at_ >= text_->size()) return false;
      const char escaped = (*text_)[at_++];
      if (escaped == 'u') {
        if (!read_unicode(text)) return false;
        continue;
      }
      static const char kFrom[] = "\"\\/bfnrt";
      static const char kTo[] = "\"\\/\b\f\n\r\t";
      const char* const found = std::strchr(kFrom, escaped);
      if (!found || escaped == '\0') return false;
      text += kTo[found - kFrom];
    }
    return false;
  }
  // The agent writes only control characters this way; pairs of surrogates become "?".
  bool read_unicode(std::string& text) {
    if (text_->size() - at_ < 4) return false;
    char* end = nullptr;
    const std::string digits = text_->substr(at_, 4);
    const unsigned long code = std::strtoul(digits.c_str(), &end, 16);
    if (*end != '\0') return false;
    at_ += 4;
    if (code >= 0xD800 && code < 0xE000) {
      text += '?';
    } else if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xC0 | (code >> 6));
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      text += static_cast<char>(0xE0 | (code >> 12));
      text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
    return true;
  }
  bool read_value(std::string& value) {
    skip_space();
    if (at_ >= text_->size()) return false;
    const char first = (*text_)[at_];
    if (first == '"') return read_text(value);
    if (first == '[' || first == '{') return skip_nested();
    while (at_ < text_->size() && !std::strchr(",} \t\r\n", (*text_)[at_])) {
      value += (*text_)[at_++];
    }
    return !value.empty();
  }
  bool skip_nested() {
    int depth = 0;
    std::string ignored;
    while (at_ < text_->size()) {
      const char letter = (*text_)[at_];
      if (letter == '"') {
        if (!read_text(ignored)) return false;
        ignored.clear();
        continue;
      }
      ++at_;
      if (letter == '[' || letter == '{') ++depth;
      if ((letter == ']' || letter == '}') && --depth == 0) return true;
    }
    return false;
  }

  const std::string* text_ = nullptr;
  std::size_t at_ = 0;
  std::map<std::string, std::string> values_{};
};

inline std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

inline std::int64_t number(const char* name, std::int64_t otherwise) {
  const std::string value = variable(name);
  return value.empty() ? otherwise : std::strtoll(value.c_str(), nullptr, 10);
}

}  // namespace detail

// All methods may be called from any thread. In a forked child they do nothing.
class Job {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Job(Options options = {})
      : options_(options),
        pid_(::getpid()),
        path_(detail::variable("ORRERY_SOCKET")),
        checkpoint_dir_(detail::variable("ORRERY_CHECKPOINT_DIR")),
        resumed_(detail::variable("ORRERY_RESUMED") == "1"),
        rank_(static_cast<int>(detail::number("ORRERY_RANK", 0))),
        ranks_(static_cast<int>(detail::number("ORRERY_RANKS", 1))),
        epoch_(detail::number("ORRERY_EPOCH", 0)) {
    options_.every = std::max<std::int64_t>(1, options_.every);
    if (path_.empty() || path_.size() >= sizeof(sockaddr_un::sun_path)) return;
    if (::pipe(wake_) != 0) return;
    for (const int end : wake_) {
      ::fcntl(end, F_SETFL, O_NONBLOCK);
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
    }
    active_ = true;
    try {
      thread_ = std::make_unique<std::thread>([this] { run(); });
    } catch (const std::system_error&) {
      active_ = false;  // as outside Orrery
    }
  }
  ~Job() {
    close(false);
    if (::getpid() != pid_) static_cast<void>(thread_.release());  // the thread is the parent's
    for (const int end : wake_) {
      if (end >= 0) ::close(end);
    }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const std::string& checkpoint_dir() const { return checkpoint_dir_; }  // empty: none
  bool resumed() const { return resumed_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  std::int64_t epoch() const { return epoch_; }

  bool connected() const { return locked(connected_); }
  // should_stop() has said to stop: save a checkpoint and leave.
  bool stopping() const { return locked(stopping_); }
  // preempt, resize, drain or cancel, once there is one.
  std::string stop_reason() const { return locked(stop_reason_); }
  // Why the agent does not want to hear this process any more; empty: it does.
  std::string error() const { return locked(error_); }

  // `done` iterations are done, of `of` in all; 0 and NaN: not known. One that went further than
  // `of` is at its end.
  void progress(std::int64_t done, std::int64_t of = 0, double loss = std::nan(""),
                double samples = std::nan("")) {
    std::string line = "{\"kind\":\"progress\",\"iteration\":" + std::to_string(done);
    if (of > 0) line += ",\"of\":" + std::to_string(std::max(of, done));
    add_number(line, "loss", loss);
    add_number(line, "samples", samples);
    const auto held = lock();
    if (!held) return;
    done_ = std::max(done_, done);
    say(kProgress, line + "}\n");
  }

  // The state after `done` iterations is safe in checkpoint_dir().
  void checkpointed(std::int64_t done) {
    if (const auto held = lock()) {
      say(kCheckpointed,
          "{\"kind\":\"checkpointed\",\"iteration\":" + std::to_string(done) + "}\n");
    }
  }

  // Asked when `done` iterations are done: true when all ranks stop here.
  bool should_stop(std::int64_t done) {
    auto held = lock();
    if (!held) return false;
    done_ = std::max(done_, done);
    asks_ = true;
    if (asked_ && promise_ < 0) answer(done);
    if (promise_ >= 0 && done >= promise_) hold(held);
    if (stop_at_ >= 0 && done >= stop_at_) stopping_ = true;
    return stopping_;
  }

  // Called in another thread when the job's next start has another size. It must not throw.
  void on_resize(std::function<void(int gpus, int ranks)> callback) {
    std::pair<int, int> notice;
    {
      const auto held = lock();
      if (!held) return;
      on_resize_ = callback;
      notice = resize_;
    }
    if (callback && notice.first > 0) callback(notice.first, notice.second);
  }

  // Says what is still to be said, and goodbye. `finished`: the job's work is done.
  void close(bool finished) {
    {
      const auto held = lock();
      if (!held || closing_) return;
      outbox_[kBye] =
          std::string("{\"kind\":\"bye\",\"finished\":") + (finished ? "true" : "false") + "}\n";
      closing_ = true;
      close_by_ = Clock::now() + std::chrono::seconds(2);
      changed_.notify_all();
      wake();
    }
    thread_->join();
  }

 private:
  enum Kind { kProgress, kCheckpointed, kCanStopAt, kBye };

  // Nothing outside Orrery, and in a forked child, where no thread would ever release the lock.
  std::unique_lock<std::mutex> lock() const {
    if (!active_ || ::getpid() != pid_) return {};
    return std::unique_lock<std::mutex>(mutex_);
  }
  template <class T>
  T locked(const T& value) const {
    const auto held = lock();
    return held ? value : T();
  }

  static void add_number(std::string& line, const char* key, double value) {
    if (!std::isfinite(value)) return;
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    std::string number = text;
    std::replace(number.begin(), number.end(), ',', '.');  // as some locales write it
    line += std::string(",\"") + key + "\":" + number;
  }

  void say(Kind kind, std::string line) {
    if (closing_) return;
    outbox_[kind] = std::move(line);
    wake();
  }
  void wake() const {
    // A full pipe wakes as well.
    if (::write(wake_[1], ".", 1) < 0) return;
  }
  void drain_wake() const {
    char bytes[256];
    while (::read(wake_[0], bytes, sizeof bytes) > 0) {
    }
  }

  void answer(std::int64_t earliest) {
    promise_ = earliest;
    say(kCanStopAt, "{\"kind\":\"can_stop_at\",\"iteration\":" + std::to_string(earliest) + "}\n");
  }
  // Waits where this rank promised to wait; going on could leave the others in a collective.
  void hold(std::unique_lock<std::mutex>& held) {
    changed_.wait_for(held, options_.hold,
                      [this] { return stop_at_ >= 0 || !error_.empty() || closing_; });
    if (stop_at_ >= 0) return;
    promise_ = -1;
    asked_ = false;
    said_.erase(kCanStopAt);
  }

  void hear(const std::string& line) {
    detail::Members message;
    if (!message.read(line)) return;
    const std::string kind = message.text("kind");
    std::function<void(int, int)> callback;
    std::pair<int, int> notice;
    {
      const std::lock_guard<std::mutex> held(mutex_);
      std::int64_t number = 0;
      std::int64_t ranks = 0;
      if (kind == "error") {
        error_ = message.text("message");
        if (error_.empty()) error_ = "closed by the agent";
        changed_.notify_all();
      } else if (kind == "prepare_stop") {
        asked_ = true;
        if (promise_ >= 0) {
          answer(promise_);
        } else if (asks_) {
          answer((done_ / options_.every + 1) * options_.every);
        }
      } else if (kind == "stop_at" && message.number("iteration", number)) {
        stop_at_ = number;
        stop_reason_ = message.text("reason");
        changed_.notify_all();
      } else if (kind == "resize" && message.number("gpus", number) &&
                 message.number("ranks", ranks)) {
        resize_ = {static_cast<int>(number), static_cast<int>(ranks)};
        callback = on_resize_;
        notice = resize_;
      } else if (kind == "welcome") {
        connected_ = true;
      }
    }
    if (callback) callback(notice.first, notice.second);
  }

  void run() {
    auto wait = options_.retry;
    while (true) {
      if (const int fd = dial(); fd >= 0) {
        if (talk(fd)) wait = options_.retry;
        ::close(fd);
      }
      {
        const std::lock_guard<std::mutex> held(mutex_);
        connected_ = false;
        if (closing_ || !error_.empty()) return;
      }
      const auto until = Clock::now() + wait;
      wait = std::min(2 * wait, options_.retry_most);
      while (Clock::now() < until) {
        pollfd woken{wake_[0], POLLIN, 0};
        ::poll(&woken, 1, milliseconds_until(until));
        drain_wake();
        const std::lock_guard<std::mutex> held(mutex_);
        if (closing_) return;
      }
    }
  }

  int dial() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    ::close(fd);
    return -1;
  }

  // One connection to its end; whether the agent was there.
  bool talk(int fd) {
    std::string unsent =
        "{\"kind\":\"hello\",\"version\":1,\"rank\":" + std::to_string(rank_) + "}\n";
    std::string received;
    auto next = Clock::now();
    {
      const std::lock_guard<std::mutex> held(mutex_);
      for (const auto& [kind, line] : said_) {
        if (!outbox_.count(kind)) unsent += line;
      }
    }
    while (true) {
      int patience = -1;
      {
        const std::lock_guard<std::mutex> held(mutex_);
        if ((unsent.empty() && Clock::now() >= next) || closing_) {
          unsent += take_outbox();
          next = Clock::now() + options_.between;
        } else if (unsent.empty() && outbox_.count(kCanStopAt)) {
          unsent = said_[kCanStopAt] = outbox_[kCanStopAt];  // the others wait for it
          outbox_.erase(kCanStopAt);
        }
        if (!error_.empty() || (closing_ && unsent.empty())) return true;
        if (closing_ && Clock::now() > close_by_) return true;
        if (closing_) patience = 1000;
        if (!closing_ && !outbox_.empty()) patience = milliseconds_until(next);
      }
      pollfd waits[2] = {{fd, static_cast<short>(unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0},
                         {wake_[0], POLLIN, 0}};
      ::poll(waits, 2, patience);
      if (waits[1].revents != 0) drain_wake();
      if (!exchange(fd, unsent, received) || received.size() > 64 * 1024) {
        return locked(connected_);
      }
    }
  }

  // Sends and receives what can be at once; false when the connection is gone.
  bool exchange(int fd, std::string& unsent, std::string& received) {
    if (!unsent.empty()) {
      const ssize_t sent = ::send(fd, unsent.data(), unsent.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (sent > 0) unsent.erase(0, static_cast<std::size_t>(sent));
    }
    char piece[4096];
    const ssize_t size = ::recv(fd, piece, sizeof piece, 0);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (size < 0) return true;
    received.append(piece, static_cast<std::size_t>(size));
    std::size_t newline = 0;
    while ((newline = received.find('\n')) != received.npos) {
      hear(received.substr(0, newline));
      received.erase(0, newline + 1);
    }
    return true;
  }

  std::string take_outbox() {
    std::string lines;
    for (auto& [kind, line] : outbox_) {
      lines += line;
      said_[kind] = std::move(line);
    }
    outbox_.clear();
    return lines;
  }

  static int milliseconds_until(Clock::time_point instant) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(instant - Clock::now()).count();
    return left < 0 ? 0 : static_cast<int>(std::min<std::int64_t>(left, 60'000)) + 1;
  }

  Options options_;
  const pid_t pid_;
  const std::string path_;
  const std::string checkpoint_dir_;
  const bool resumed_;
  const int rank_;
  const int ranks_;
  const std::int64_t epoch_;
  int wake_[2] = {-1, -1};
  bool active_ = false;  // before the thread begins as ever after

  mutable std::mutex mutex_{};  // guards everything below it but the thread itself
  std::condition_variable changed_{};
  std::map<Kind, std::string> outbox_{};  // one of each kind, the newest
  std::map<Kind, std::string> said_{};    // said again on a new connection
  std::int64_t done_ = 0;
  bool asks_ = false;   // the program asks should_stop(), so it can promise something
  bool asked_ = false;  // the agent wants to know where this rank can stop
  std::int64_t promise_ = -1;
  std::int64_t stop_at_ = -1;
  std::string stop_reason_{};
  bool stopping_ = false;
  std::pair<int, int> resize_{};
  std::function<void(int, int)> on_resize_{};
  std::string error_{};
  bool connected_ = false;
  bool closing_ = false;
  Clock::time_point close_by_{};
  std::unique_ptr<std::thread> thread_{};
};

}  // namespace orrery_job
