// MPI's own all-reduce behind the engine's interface: mpirun starts this program again, and every
// process runs all tests.
#include "parallel/transport/engine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "parallel/collectives/all_reduce.h"
#include "parallel/transport/group.h"
#include "parallel/transport/mpi/mpi_world.h"
#include "runtime/error.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"

namespace torus::parallel {
namespace {

constexpr int kProcesses = 5;

// Small whole numbers, whose sums are exact in every order.
template <class T>
void ExpectSum(Transport& transport, int64_t count) {
  std::vector<T> data(count);
  for (int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(i % 1000 + transport.rank());
  AllReduce(transport, std::span<T>(data), "test", AllReduceAlgorithm::kEngine);
  const int n = transport.size(), ranks = n * (n - 1) / 2;
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(data[i], static_cast<T>(n * (i % 1000) + ranks)) << i;
}

TEST(MpiEngine, SumsAllTypesAndLengths) {
  MpiWorld world(0, {.longest_piece = 100'000});
  world.Run([](Transport& transport) {
    for (const int64_t count : {0, 1, 4, 5, 6, 1'000'003}) {
      ExpectSum<float>(transport, count);
      ExpectSum<double>(transport, count);
      ExpectSum<int32_t>(transport, count);
      ExpectSum<int64_t>(transport, count);
    }
  });
}

// Of some ranks, while the others do something else; in the group's own order.
TEST(MpiEngine, SumsInGroups) {
  MpiWorld world;
  world.Run([](Transport& transport) {
    const bool even = transport.rank() % 2 == 0;
    Group group(transport, even ? std::vector{4, 0, 2} : std::vector{1, 3});
    for (int round = 0; round < 20; ++round) ExpectSum<float>(group, even ? 70'000 : 31);
    ExpectSum<double>(transport, 9);
  });
}

// MPI keeps the buffers of a sum that never ends, so the processes do.
void Stall() {
  MpiWorld world(0, ForProgram({.timeout = 1, .grace = 1}));
  world.Run([](Transport& transport) {
    ExpectSum<float>(transport, 10);
    while (transport.rank() == 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ExpectSum<float>(transport, 10);
  });
}

}  // namespace
}  // namespace torus::parallel

int main(int argc, char** argv) {
  using namespace torus::parallel;
  testing::InitGoogleTest(&argc, argv);
  return RunTestsAndFailure(argc, argv, kProcesses, [] { return RUN_ALL_TESTS(); }, Stall,
                            {"rank 3 shows no progress"});
}
