// All-reduces that are carried on between other work.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "parallel/collectives/direct.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "tests/parallel/collectives/terms.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

// Terms whose sums are rounded, so that another order has other bits.
std::vector<float> Fractions(int rank, int64_t count) {
  std::vector<float> terms(count);
  for (int64_t i = 0; i < count; ++i)
    terms[i] = 1.0f / static_cast<float>(1 + (i * 31 + rank * 17) % 1013);
  return terms;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// Each rank looks in another number of times before it waits.
TEST(PendingAllReduce, HasTheBitsOfADirectOne) {
  for (const int ranks : {1, 2, 3, 5})
    for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{ranks + 1}, int64_t{3'000'017}})
      RunRanks(ranks, [&](Transport& t) {
        std::vector<float> want = Fractions(t.rank(), count), got = want;
        DirectAllReduce(t, std::span<float>(want), "test");
        const auto pending = StartDirectAllReduce(t, std::span<float>(got), "test", 0);
        bool done = false;
        for (int i = 0; i < 7 * t.rank() && !done; ++i) done = pending->Advance();
        pending->Finish();
        EXPECT_TRUE(pending->Advance());
        EXPECT_TRUE(SameBits(got, want)) << ranks << " ranks, " << count << " elements";
      });
}

// As the last look of a backward may find it: nobody has waited.
TEST(PendingAllReduce, EndsWithoutAWait) {
  RunRanks(3, [](Transport& t) {
    std::vector<float> data = Terms<float>(t.rank(), 1'000'003);
    const auto pending = StartDirectAllReduce(t, std::span<float>(data), "test", 0);
    while (!pending->Advance()) t.ThrowIfAborted();
    EXPECT_TRUE(data == Sums<float>(3, 1'000'003));
  });
}

TEST(PendingAllReduce, LanesKeepSeveralApart) {
  RunRanks(4, [](Transport& t) {
    std::array<std::vector<float>, 3> data;
    std::array<std::unique_ptr<PendingCollective>, 3> pending;
    for (int i = 0; i < 3; ++i) {
      const int lane = (i + t.rank()) % 3;  // in another order on each rank
      data[lane] = Terms<float>(t.rank(), 400'000 + lane);
      pending[lane] = StartDirectAllReduce(t, std::span<float>(data[lane]), "test", lane);
      for (int k = 0; k <= i; ++k) pending[(k + t.rank()) % 3]->Advance();
    }
    for (int lane = 0; lane < 3; ++lane) pending[lane]->Finish();
    for (int lane = 0; lane < 3; ++lane)
      EXPECT_TRUE(data[lane] == Sums<float>(4, 400'000 + lane)) << "lane " << lane;
  });
}

// The run ends with that rank's error, and nothing is written to memory that is gone.
TEST(PendingAllReduce, IsCancelledWhenAPeerFails) {
  try {
    RunRanks(2, [](Transport& t) {
      std::vector<float> data(1'000'003);
      const auto pending = StartDirectAllReduce(t, std::span<float>(data), "bucket 3, step 17", 0);
      pending->Advance();
      if (t.rank() == 1) throw BadInput("planned");
      pending->Finish();
    });
    FAIL() << "nothing was thrown";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("planned"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace torus::parallel
