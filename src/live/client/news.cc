#include "live/client/news.h"

#include <algorithm>

namespace orrery {
namespace {

// How long one call waits: Ctrl-C is answered after that long at the latest.
constexpr Duration kOneCall = std::chrono::seconds(1);
constexpr Duration kApart = std::chrono::milliseconds(50);

}  // namespace

News::News(Client& client, const CommandContext& context)
    : client_(client), around_(context), last_(context.clock() - kApart) {
  const auto answer = client.events({.from = -1, .most = 1});
  deaf_ = !answer.ok();
  if (answer.ok()) next_ = answer.value().next;
}

void News::wait(Duration most) {
  const Duration end = around_.clock() + most;
  for (bool news = false; !news && !around_.interrupted();) {
    const Duration left = end - around_.clock();
    if (left <= Duration::zero()) break;
    if (!deaf_) {
      const auto answer = client_.events({.from = next_, .wait = std::min(left, kOneCall)});
      if (answer.ok()) {
        news = !answer.value().lines.empty();
        next_ = answer.value().next;
        if (!news) around_.pause(kApart);  // a server that will not wait is not pestered
        continue;
      }
      const Code code = answer.error().code;
      deaf_ = code != Code::Unavailable && code != Code::DeadlineExceeded;
    }
    around_.pause(std::min(left, kOneCall));
    news = true;  // perhaps; the caller has to look
  }
  if (const Duration early = last_ + kApart - around_.clock(); early > Duration::zero()) {
    around_.pause(early);
  }
  last_ = around_.clock();
}

}  // namespace orrery
