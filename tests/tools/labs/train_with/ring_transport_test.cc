#include "tools/labs/train_with/ring_transport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "parallel/collectives/engine_all_reduce.h"
#include "parallel/collectives/ring.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "tests/tools/labs/train_with/rings.h"
#include "tools/common/lines_below.h"
#include "tools/labs/build_it_yourself/grader/dice.h"
#include "tools/labs/train_with/call_watch.h"
#include "tools/labs/train_with/crash_note.h"

namespace torus::tools::labs::testing {
namespace {

using parallel::Transport;
using Values = std::vector<std::vector<float>>;  // by rank

Values Terms(int ranks, size_t count) {
  Dice dice(static_cast<uint64_t>(ranks) * 1000 + count);
  Values terms;
  for (int rank = 0; rank < ranks; ++rank) terms.push_back(dice.Normals(count));
  return terms;
}

struct Summed {
  Values values;
  std::vector<RingCounts> counts;
  std::string finding;  // of SumCheck
};

// Every rank's sum by the ring, `times` over the same terms.
Summed SumBy(const RingLibrary& ring, const Values& terms, double timeout = 60, int times = 1,
             double stuck = 60) {
  const int n = static_cast<int>(terms.size());
  Summed summed{terms, std::vector<RingCounts>(terms.size())};
  SumCheck check(n);
  CallWatch watch(stuck);
  parallel::InProcessWorld world(n, {.timeout = timeout});
  parallel::RunRanks(world,
                     [&](Transport& inner) {
                       const auto rank = static_cast<size_t>(inner.rank());
                       RingTransport transport(inner, nullptr, ring.function(inner.rank()),
                                               summed.counts[rank], {check, watch});
                       for (int i = 0; i < times; ++i) {
                         summed.values[rank] = terms[rank];
                         parallel::EngineAllReduce<float>(transport, summed.values[rank],
                                                          "sum, step 7");
                       }
                     },
                     {.grace = 0.5});
  summed.finding = check.Finding();
  return summed;
}

Values SumByOwnRing(const Values& terms) {
  Values values = terms;
  std::vector<RingCounts> counts(terms.size());
  SumCheck check(static_cast<int>(terms.size()));
  CallWatch watch(60);
  parallel::RunRanks(static_cast<int>(terms.size()), [&](Transport& inner) {
    const auto rank = static_cast<size_t>(inner.rank());
    RingTransport transport(inner, nullptr, nullptr, counts[rank], {check, watch});
    parallel::EngineAllReduce<float>(transport, values[rank], "sum");
  });
  EXPECT_EQ(check.Finding(), "");
  return values;
}

Values SumByRingAlone(const Values& terms) {
  Values values = terms;
  parallel::RunRanks(static_cast<int>(terms.size()), [&](Transport& transport) {
    parallel::RingAllReduce<float>(transport, values[static_cast<size_t>(transport.rank())], "sum");
  });
  return values;
}

// |sum - exact| of n terms that are multiplied by n, added and divided by n, each rounded to within
// half of 2^-23: at most (1 + (n - 1) + 1) roundings of what is no larger than n times the terms'
// sizes together, which the division makes 1 of them again.
void ExpectSums(const Values& terms, const Values& sums) {
  const double half_ulp = std::ldexp(1.0, -24), n = static_cast<double>(terms.size());
  for (size_t i = 0; i < terms[0].size(); ++i) {
    double exact = 0, sizes = 0;
    for (const std::vector<float>& of_rank : terms) {
      exact += double{of_rank[i]};
      sizes += std::abs(double{of_rank[i]});
    }
    for (const std::vector<float>& of_rank : sums)
      ASSERT_NEAR(of_rank[i], exact, (n + 1) * half_ulp * sizes * 1.001) << "element " << i;
  }
}

bool SameBits(const Values& a, const Values& b) {
  for (size_t r = 0; r < a.size(); ++r)
    if (std::memcmp(a[r].data(), b[r].data(), a[r].size() * sizeof(float)) != 0) return false;
  return true;
}

// What an error of the run says.
std::string ErrorOf(const std::string& file, int ranks, size_t count, double timeout = 60) {
  try {
    SumBy(Load(file, ranks), Terms(ranks, count), timeout);
  } catch (const Error& error) {
    const auto* const below = dynamic_cast<const LinesBelow*>(&error);
    return error.what() + (below == nullptr ? "" : "\n" + below->lines);
  }
  return "no error";
}

void ExpectError(const std::string& error, const std::vector<std::string>& says) {
  for (const std::string& part : says)
    EXPECT_NE(error.find(part), std::string::npos) << "no \"" << part << "\" in " << error;
}

TEST(RingTransport, SumsByTheStudentsRing) {
  for (const int ranks : {2, 3, 4, 5}) {
    const RingLibrary ring = Load(SolutionFile(), ranks);
    for (const size_t count : {1, 7, 1024, 100'003}) {
      const Values terms = Terms(ranks, count);
      const Summed summed = SumBy(ring, terms);
      ExpectSums(terms, summed.values);
      EXPECT_EQ(summed.finding, "");
      const Values own = SumByOwnRing(terms);
      EXPECT_TRUE(SameBits(summed.values, own)) << ranks << " ranks, " << count;
      const bool exact = ranks == 2 || ranks == 4;  // n times the terms are
      EXPECT_TRUE(!exact || SameBits(own, SumByRingAlone(terms)));
      for (int rank = 0; rank < ranks; ++rank) {
        const RingCounts& counts = summed.counts[static_cast<size_t>(rank)];
        EXPECT_EQ(counts.sums, 1);
        EXPECT_EQ(counts.messages, 2 * (ranks - 1));
        EXPECT_EQ(counts.bytes, sizeof(float) * static_cast<uint64_t>(parallel::RingElementsSent(
                                                    ranks, rank, static_cast<int64_t>(count))));
      }
    }
  }
}

TEST(RingTransport, CountsWhatWholeTensorsCost) {
  const Summed summed = SumBy(Load(FaultFile("whole_tensor"), 3), Terms(3, 1000));
  ExpectSums(Terms(3, 1000), summed.values);
  for (const RingCounts& counts : summed.counts) {
    EXPECT_EQ(counts.bytes, 2 * 4000u);
    EXPECT_EQ(counts.largest_message, 4000u);
    EXPECT_EQ(counts.elements, 1000u);
  }
}

TEST(RingTransport, EachRankHasItsOwnGlobals) {
  const Summed summed = SumBy(Load(RingFile("counts_calls"), 3), Terms(3, 8), 60, 4);
  for (const std::vector<float>& of_rank : summed.values) {
    EXPECT_EQ(of_rank[0], 4);
    EXPECT_EQ(of_rank[1], 4);
  }
}

TEST(RingTransport, FindsAWrongSum) {
  const Summed summed = SumBy(Load(FaultFile("missing_average"), 3), Terms(3, 1000));
  ExpectError(summed.finding, {"on rank 0 1000 of 1000 elements are wrong", "step 7"});
  const Summed chunk = SumBy(Load(FaultFile("off_by_one_chunk"), 3), Terms(3, 1000));
  ExpectError(chunk.finding, {" of 1000 elements are wrong; the first is element "});
}

TEST(RingTransport, NamesRankAndStepOfAnException) {
  ExpectError(ErrorOf(FaultFile("exception"), 4, 3),
              {"[ring] rank ", "threw an exception: too few elements", "step 7"});
}

TEST(RingTransport, EndsADeadlock) {
  ExpectError(ErrorOf(FaultFile("deadlock_odd_ranks"), 3, 50, 0.3),
              {"gave up after", "receive 1 of the ring", "step 7"});
}

TEST(RingTransport, AnErrorOfTheWireCannotBeCaughtAway) {
  ExpectError(ErrorOf(RingFile("catches_all"), 2, 50, 0.3), {"gave up after", "receive 1 of"});
}

TEST(RingTransport, SaysWhatNobodyReceived) {
  ExpectError(ErrorOf(RingFile("leaves_a_message"), 3, 50),
              {"a message of 3 floats that it did not receive", "step 7"});
}

TEST(RingTransport, RefusesWhatIsNoNeighbour) {
  ExpectError(ErrorOf(RingFile("sends_to_itself"), 3, 50),
              {" of 3 sends to rank ", "no other rank", "step 7"});
}

TEST(RingTransport, EndsOneThatSendsForEver) {
  ExpectError(ErrorOf(RingFile("sends_for_ever"), 2, 50),
              {"100000 messages that nobody has received", "step 7"});
}

// No thread can be ended from outside: the program says why, and ends.
TEST(RingTransportDeathTest, EndsTheProgramWhereTheRingNeverComesBack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(SumBy(Load(RingFile("endless_loop"), 2), Terms(2, 8), 60, 1, 0.3),
              ::testing::ExitedWithCode(1),
              "AllReduceMean of rank 1 has neither come back nor called Send or Recv.*step 7");
}

TEST(RingTransportDeathTest, SaysWhichRankCrashedOrLeft) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto sum = [](const std::string& file) {
    const CrashWatch watch;
    SumBy(Load(file, 2), Terms(2, 8));
  };
  const auto failed = ::testing::ExitedWithCode(1);
  EXPECT_EXIT(sum(FaultFile("crash")), failed, "AllReduceMean of rank .*step 7. crashed: signal");
  EXPECT_EXIT(sum(RingFile("calls_itself")), failed, "of rank .*signal 11 .*called itself");
  EXPECT_EXIT(sum(FaultFile("leaves_early")), failed, "of rank .*has ended the program");
  EXPECT_EXIT(sum(FaultFile("leaves_by_system_call")), failed, "of rank .*has ended the program");
  for (const char* file : {"leaves_quickly", "leaves_without_cleaning"})
    EXPECT_EXIT(sum(RingFile(file)), failed, "of rank .*step 7. has ended the program") << file;
  EXPECT_EXIT(sum(RingFile("leaves_on_a_thread")), failed,
              "a thread that AllReduceMean has started has ended the program");
  EXPECT_EXIT(sum(RingFile("crashes_when_loaded")), failed,
              "a constructor of what is global in .*crashes_when_loaded.cc crashed: signal 6");
}

TEST(RingTransport, ShowsWhyAFileDoesNotCompile) {
  ExpectError(ErrorOf(FaultFile("does_not_compile"), 2, 8),
              {"does not compile", "value /= wire.sise();"});
  ExpectError(ErrorOf("nowhere.cc", 2, 8), {"there is no file nowhere.cc"});
}

TEST(RingTransport, SumsF32OfAllRanksAlone) {
  const RingLibrary ring = Load(SolutionFile(), 2);
  std::vector<RingCounts> counts(2);
  SumCheck check(2);
  CallWatch watch(60);
  parallel::RunRanks(2, [&](Transport& inner) {
    RingTransport transport(inner, nullptr, ring.function(inner.rank()),
                            counts[static_cast<size_t>(inner.rank())], {check, watch});
    double value = 1;
    EXPECT_THROW(parallel::EngineAllReduce<double>(transport, {&value, 1}, "sum"), BadInput);
    EXPECT_THROW(transport.EngineOf({inner.rank()}), BadInput);
  });
}

}  // namespace
}  // namespace torus::tools::labs::testing
