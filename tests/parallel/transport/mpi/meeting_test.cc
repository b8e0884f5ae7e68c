#include "parallel/transport/mpi/meeting.h"

#include <gtest/gtest.h>

#include "parallel/transport/mpi/mpi_process.h"

// OpenMPI leaves memory behind when it ends, which is not ours for AddressSanitizer to find.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace torus::parallel {
namespace {

// Two ranks of this host, and one of another on the same cores.
std::vector<Participant> Ranks(const UsableCores& one, const UsableCores& other) {
  const std::string& here = MpiProcess::Begin(60).host();
  return {{here, 1, one}, {here, 2, other}, {"elsewhere", 3, one}};
}

TEST(Meeting, RanksShareCoresThatAreFewerThanThey) {
  constexpr UsableCores kOne{.count = 1, .first = 0}, kNext{.count = 1, .first = 1},
      kBoth{.count = 2, .first = 0};
  EXPECT_TRUE(SharesCores(Ranks(kOne, kOne), kOne));
  EXPECT_FALSE(SharesCores(Ranks(kOne, kNext), kOne)) << "each bound to a core of its own";
  EXPECT_FALSE(SharesCores(Ranks(kBoth, kBoth), kBoth));
}

}  // namespace
}  // namespace torus::parallel
