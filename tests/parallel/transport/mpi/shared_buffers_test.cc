// All-reduce through memory that processes of one host share, beside the same by messages: mpirun
// starts this program again, and every process runs all tests.
#include "parallel/transport/shared_buffers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "parallel/collectives/all_reduce.h"
#include "parallel/transport/group.h"
#include "parallel/transport/mpi/mpi_world.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"

namespace torus::parallel {
namespace {

constexpr int kProcesses = 5;
const std::vector<int64_t> kCounts = {0, 1, 4, 5, 6, 31, 1000, 100'003};

// Of magnitudes so different that the order of sums shows.
template <class T>
std::vector<T> Terms(int rank, int64_t count) {
  std::mt19937 random(rank + 1);
  std::vector<T> terms(count);
  for (T& term : terms)
    term = static_cast<T>(
        std::ldexp(static_cast<double>(random()) - 2e9, static_cast<int>(random() % 20) - 20));
  return terms;
}

template <class T>
void AppendSums(Transport& transport, std::vector<std::byte>& bits) {
  for (const int64_t count : kCounts) {
    std::vector<T> data = Terms<T>(transport.rank(), count);
    AllReduce(transport, std::span<T>(data), "test");
    const auto bytes = std::as_bytes(std::span<const T>(data));
    bits.insert(bits.end(), bytes.begin(), bytes.end());
  }
}

// The bits of the sums of every type and length, and what this rank sent to rank 0 meanwhile.
struct Sums {
  std::vector<std::byte> bits;
  uint64_t sent = 0;
  bool operator==(const Sums&) const = default;
};

Sums SumsWith(size_t shared_buffer_bytes) {
  Sums sums;
  MpiWorld world(0, {.shared_buffer_bytes = shared_buffer_bytes});
  world.Run([&](Transport& transport) {
    EXPECT_EQ(transport.SharedBuffersOf({0, 1, 2, 3, 4}) == nullptr, shared_buffer_bytes == 0);
    const auto before = transport.BytesSent(0, TagClass::kCollective);
    AppendSums<float>(transport, sums.bits);
    AppendSums<double>(transport, sums.bits);
    AppendSums<int32_t>(transport, sums.bits);
    AppendSums<int64_t>(transport, sums.bits);
    sums.sent = transport.BytesSent(0, TagClass::kCollective) - before;
  });
  return sums;
}

TEST(SharedBuffers, GiveTheBitsAndTheBytesOfMessages) {
  const Sums by_messages = SumsWith(0);
  EXPECT_EQ(SumsWith(size_t{1} << 21), by_messages);
  EXPECT_EQ(SumsWith(4096), by_messages);  // in many pieces
  EXPECT_EQ(SumsWith(1), by_messages);     // the least: a line for each member
}

// Of some ranks, while the others do something else; in the group's own order, and of groups that
// have ranks in common.
TEST(SharedBuffers, EachGroupHasItsOwn) {
  MpiWorld world(0, {.shared_buffer_bytes = 4096});
  world.Run([](Transport& transport) {
    const int rank = transport.rank();
    const std::vector<std::vector<int>> groups = {{4, 0, 2}, {1, 3}, {0, 1}, {2, 3, 4}};
    for (int round = 0; round < 20; ++round)
      for (const std::vector<int>& members : groups) {
        if (std::ranges::find(members, rank) == members.end()) continue;
        Group group(transport, members);
        std::vector<int64_t> data(3000 + round, rank + 1);
        AllReduce(group, std::span(data), "test");
        int64_t sum = 0;
        for (const int member : members) sum += member + 1;
        ASSERT_EQ(data, std::vector<int64_t>(data.size(), sum)) << rank << " in round " << round;
      }
  });
}

void Stall() {
  MpiWorld world(0, ForProgram({.timeout = 2, .grace = 2}));
  world.Run([](Transport& transport) {
    std::vector<float> data(10);
    AllReduce(transport, std::span(data), "gradients of step 1");
    while (transport.rank() == 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    AllReduce(transport, std::span(data), "gradients of step 2");
  });
}

}  // namespace
}  // namespace torus::parallel

int main(int argc, char** argv) {
  using namespace torus::parallel;
  testing::InitGoogleTest(&argc, argv);
  return RunTestsAndFailure(argc, argv, kProcesses, [] { return RUN_ALL_TESTS(); }, Stall,
                            {"rank 3 shows no progress", "waiting for rank 3 to send 8 bytes",
                             "gradients of step 2, reduce-scatter 1 of 1"});
}
