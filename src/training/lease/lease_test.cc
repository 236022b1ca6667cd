#include "training/lease/lease.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>

#include "base/files.h"
#include "base/test_folder.h"

namespace orrery {
namespace {

using std::chrono::seconds;

TEST(Lease, EveryChiefHasAnEpochOfItsOwn) {
  const TestFolder folder;
  const LeaseFile file(folder.path());
  const ChiefLease none = file.read().value();
  EXPECT_EQ(none.epoch, 0);
  const auto first = file.take(none, "worker-0").value();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->epoch, 1);
  const auto second = file.take(*first, "worker-1").value();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->epoch, 2);
  EXPECT_EQ(file.read().value().holder, "worker-1");
}

TEST(Lease, OfTwoMembersThatSawTheSameOneTakesIt) {
  const TestFolder folder;
  const LeaseFile file(folder.path());
  const ChiefLease seen = file.read().value();
  EXPECT_TRUE(file.take(seen, "worker-0").value());
  EXPECT_FALSE(file.take(seen, "worker-1").value());
}

TEST(Lease, AnEarlierChiefCanNeitherRenewNorWrite) {
  const TestFolder folder;
  const LeaseFile file(folder.path());
  ChiefLease old = *file.take(file.read().value(), "worker-0").value();
  ASSERT_TRUE(file.renew(old).ok());
  ChiefLease next = *file.take(old, "worker-1").value();
  EXPECT_EQ(file.renew(old).error().code, Code::FailedPrecondition);
  bool written = false;
  const auto write = [&]() -> Status {
    written = true;
    return {};
  };
  EXPECT_EQ(file.while_held(old.epoch, write).error().message,
            "worker-1 leads the run in epoch 2; epoch 1 is over");
  EXPECT_FALSE(written);
  EXPECT_TRUE(file.while_held(next.epoch, write).ok());
  EXPECT_TRUE(written);
}

TEST(Lease, ARenewalMeanwhileKeepsOthersFromTakingIt) {
  const TestFolder folder;
  const LeaseFile file(folder.path());
  ChiefLease mine = *file.take(file.read().value(), "worker-0").value();
  const ChiefLease seen = file.read().value();
  ASSERT_TRUE(file.renew(mine).ok());
  EXPECT_FALSE(file.take(seen, "worker-1").value());
}

TEST(Lease, OneThatWasReleasedIsNotRenewed) {
  const TestFolder folder;
  const LeaseFile file(folder.path());
  ChiefLease mine = *file.take(file.read().value(), "worker-0").value();
  ASSERT_TRUE(file.release(mine.epoch).ok());
  EXPECT_FALSE(file.renew(mine).ok());
  const ChiefLease next = *file.take(file.read().value(), "worker-1").value();
  ASSERT_TRUE(file.release(mine.epoch).ok()) << "of an epoch that is over";
  EXPECT_FALSE(file.read().value().released);
  EXPECT_EQ(next.epoch, 2);
}

TEST(LeaseWatch, WaitsUntilNothingWasRenewedForSoLong) {
  LeaseWatch watch("worker-1", seconds(3));
  const LeaseWatch::Clock::time_point start{};
  ChiefLease lease{.epoch = 1, .holder = "worker-0", .renewals = 1};
  EXPECT_FALSE(watch.may_take(lease, start));
  EXPECT_FALSE(watch.may_take(lease, start + seconds(2)));
  lease.renewals = 2;
  EXPECT_FALSE(watch.may_take(lease, start + seconds(3)));
  EXPECT_FALSE(watch.may_take(lease, start + seconds(5)));
  EXPECT_TRUE(watch.may_take(lease, start + seconds(6)));
  lease.released = true;
  lease.epoch = 2;
  EXPECT_TRUE(watch.may_take(lease, start + seconds(6)));
}

TEST(LeaseWatch, AHolderThatIsStillStartingGetsMoreTime) {
  LeaseWatch watch("worker-1", seconds(3));
  const LeaseWatch::Clock::time_point start{};
  const ChiefLease lease{.epoch = 1, .holder = "worker-0"};
  EXPECT_FALSE(watch.may_take(lease, start));
  EXPECT_FALSE(watch.may_take(lease, start + seconds(29)));
  EXPECT_TRUE(watch.may_take(lease, start + seconds(30)));
}

TEST(LeaseWatch, AMemberThatIsNamedTakesItFirst) {
  const ChiefLease lease{.epoch = 1, .holder = "worker-0", .released = true, .next = "worker-2"};
  const LeaseWatch::Clock::time_point start{};
  LeaseWatch named("worker-2", seconds(3));
  LeaseWatch other("worker-1", seconds(3));
  EXPECT_TRUE(named.may_take(lease, start));
  EXPECT_FALSE(other.may_take(lease, start));
  EXPECT_TRUE(other.may_take(lease, start + seconds(3))) << "the named one may be gone as well";
}

// What a process leaves that hangs while it has the lock.
class HungMember {
 public:
  explicit HungMember(const TestFolder& folder) {
    std::filesystem::create_directories(folder.file("lease"));
    const std::string path = folder.file("lease/lock");
    lock_ = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    locked_ = ::flock(lock_.get(), LOCK_EX) == 0;
  }
  bool has_the_lock() const { return locked_; }

 private:
  Fd lock_{};
  bool locked_ = false;
};

TEST(Lease, AMemberThatHangsWithTheLockLosesIt) {
  const TestFolder folder;
  const HungMember hangs(folder);
  ASSERT_TRUE(hangs.has_the_lock());
  const LeaseFile file(folder.path(), std::chrono::milliseconds(1));
  EXPECT_TRUE(file.take(ChiefLease{}, "worker-1").value());
}

// It hung in a renewal, which looked at the epoch before another member began the next one.
TEST(Lease, ARenewalThatHungIsNoEpochOfItsOwn) {
  const TestFolder folder;
  const LeaseFile file(folder.path(), std::chrono::milliseconds(1));
  const ChiefLease old = *file.take(ChiefLease{}, "worker-0").value();
  std::optional<ChiefLease> next;
  ASSERT_TRUE(file.while_held(old.epoch, [&]() -> Status {
                    next = file.take(old, "worker-1").value();  // after the lock's patience
                    folder.write("lease/1", R"({"holder": "worker-0", "renewals": 7})");
                    return {};
                  })
                  .ok());
  ASSERT_TRUE(next);
  const ChiefLease now = file.read().value();
  EXPECT_EQ(now.epoch, 2);
  EXPECT_EQ(now.holder, "worker-1");
  ChiefLease mine = *next;
  EXPECT_TRUE(file.renew(mine).ok());
}

TEST(Lease, ARenewalUnderWayDoesNotTakeARelease) {
  const TestFolder folder;
  const LeaseFile file(folder.path());
  const ChiefLease mine = *file.take(ChiefLease{}, "worker-0").value();
  ASSERT_TRUE(file.release(mine.epoch, "worker-2").ok());
  folder.write("lease/1", R"({"holder": "worker-0", "renewals": 7})");
  EXPECT_TRUE(file.read().value().released);
  EXPECT_EQ(file.read().value().next, "worker-2");
}

TEST(Lease, OtherFilesInTheFolderAreNoLeases) {
  const TestFolder folder;
  const LeaseFile file(folder.path());
  for (const char* const name : {"lease/x", "lease/3x", "lease/0", "lease/-4", "lease/lock"}) {
    folder.write(name, "{}");
  }
  EXPECT_EQ(file.read().value().epoch, 0);
}

TEST(Lease, OtherTextIsAnError) {
  const TestFolder folder;
  folder.write("lease/1", R"({"epoch": 1})");
  EXPECT_NE(LeaseFile(folder.path()).read().error().message.find("lease/1: no lease"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
