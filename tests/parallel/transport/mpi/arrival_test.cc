// A process that never calls MPI_Init is named by those that wait for it. The program starts itself
// again under mpirun.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "parallel/transport/mpi/mpi_world.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"

namespace torus::parallel {
namespace {

std::string Self() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

TEST(Arrival, WhoNeverCallsInitIsNamed) {
  const MpirunOutput output = RunUnderMpirun(2, {Self(), "1", ":", "-n", "1", "/bin/sleep", "600"});
  EXPECT_NE(output.status, 0);
  for (const char* rank : {"process 0", "process 1"})
    EXPECT_NE(output.text.find(std::string(rank) +
                               ": MPI_Init has not returned within 1 s: process 2 of 3 has not "
                               "called it"),
              std::string::npos)
        << output.text;
}

// As if the third process were one of another host's two.
TEST(Arrival, OnSeveralHostsThoseHereAreCounted) {
  const MpirunOutput output =
      RunUnderMpirun(2, {Self(), "1", "2", ":", "-n", "1", "/bin/sleep", "600"});
  EXPECT_NE(output.status, 0);
  EXPECT_NE(output.text.find("of the 2 processes of this host 2 have called it: 0, 1; there are 3 "
                             "in all"),
            std::string::npos)
      << output.text;
}

TEST(Arrival, AllThatComeInTimeBegin) {
  const MpirunOutput output = RunUnderMpirun(3, {Self(), "60"});
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(output.text.find("MPI_Init"), std::string::npos) << output.text;
}

}  // namespace
}  // namespace torus::parallel

int main(int argc, char** argv) {
  using namespace torus::parallel;
  if (argc > 2) setenv("OMPI_COMM_WORLD_LOCAL_SIZE", argv[2], 1);
  if (UnderMpirun()) return MpiWorld::processes(std::atof(argv[1])) == 3 ? 0 : 1;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
