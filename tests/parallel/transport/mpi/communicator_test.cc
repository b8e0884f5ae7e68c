// Communicators between processes: mpirun starts this program again, and every process runs all
// tests.
#include "parallel/collectives/communicator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "parallel/transport/mpi/mpi_world.h"
#include "tests/parallel/collectives/communicator_cases.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"

namespace torus::parallel {
namespace {

constexpr int kProcesses = 4;

TEST(MpiCommunicator, DoesEveryOperation) {
  MpiWorld world;
  world.Run([](Transport& transport) {
    Communicator all(transport);
    testing::CheckEveryOperation(all);
    if (transport.rank() == 1) return;
    Communicator some(transport, {3, 0, 2});
    testing::CheckEveryOperation(some);
  });
}

void Stall() {
  MpiWorld world(0, ForProgram({.timeout = 1, .grace = 1}));
  world.Run([](Transport& transport) {
    Communicator all(transport);
    while (transport.rank() == 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    all.Share(transport.rank(), "the numbers of all");
  });
}

}  // namespace
}  // namespace torus::parallel

int main(int argc, char** argv) {
  using namespace torus::parallel;
  ::testing::InitGoogleTest(&argc, argv);
  return RunTestsAndFailure(argc, argv, kProcesses, [] { return RUN_ALL_TESTS(); }, Stall,
                            {"the numbers of all", "rank 3"});
}
