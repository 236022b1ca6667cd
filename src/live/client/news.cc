#include "live/client/news.h"

#include <algorithm>

namespace orrery {
namespace {

// How long one call waits: Ctrl-C is answered after that long at the latest.
constexpr Duration kOneCall = std::chrono::seconds(1);
constexpr Duration kApart = std::chrono::milliseconds(50);

}  // namespace

News::News(Client& client, const CommandContext& context)
    : client_(client), context_(context), last_(context.clock() - kApart) {
  const auto answer = client.events({.from = -1, .most = 1});
  gets_no_events_ = !answer.ok();
  if (answer.ok()) next_ = answer.value().next;
}

void News::wait(Duration most) {
  const Duration end = context_.clock() + most;
  for (bool news = false; !news && !context_.interrupted();) {
    const Duration left = end - context_.clock();
    if (left <= Duration::zero()) break;
    if (!gets_no_events_) {
      const auto answer = client_.events({.from = next_, .wait = std::min(left, kOneCall)});
      if (answer.ok()) {
        news = !answer.value().lines.empty();
        next_ = answer.value().next;
        if (!news) context_.pause(kApart);  // for a server that does not wait
        continue;
      }
      const Code code = answer.error().code;
      gets_no_events_ = code != Code::Unavailable && code != Code::DeadlineExceeded;
    }
    context_.pause(std::min(left, kOneCall));
    news = true;  // perhaps; the caller has to look
  }
  if (const Duration early = last_ + kApart - context_.clock(); early > Duration::zero()) {
    context_.pause(early);
  }
  last_ = context_.clock();
}

}  // namespace orrery
