// A call of MPI that fails where nothing can be thrown ends all processes, with a line that says
// why. The program starts itself again under mpirun; it has MPI_Isend and MPI_Cancel of its own,
// which fail when they are told to (the MPI standard, "profiling interface").
#include <gtest/gtest.h>
#include <mpi.h>

#include <filesystem>
#include <string_view>

#include "parallel/transport/mpi/mpi_world.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"

namespace {

bool fails_to_send = false, fails_to_cancel = false;

}  // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  if (fails_to_send) return MPI_ERR_OTHER;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

extern "C" int MPI_Cancel(MPI_Request* request) {
  return fails_to_cancel ? MPI_ERR_OTHER : PMPI_Cancel(request);
}

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kControl, 1};

// What the processes do: rank 0 begins to receive what rank 1 never sends.
int Scenario(std::string_view name) {
  MpiWorld world(2, {.timeout = 20});
  world.Run([&](Transport& transport) {
    if (transport.rank() == 1) return;
    int value = 0;
    fails_to_send = name == "send";
    {
      const Pending received = transport.Recv(1, kTag, {&value, sizeof value}, "a number");
      fails_to_cancel = name == "cancel";
    }
  });
  return 0;
}

void ExpectLastWord(const std::string& scenario, const std::string& word) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const MpirunOutput output = RunUnderMpirun(2, {self, scenario});
  EXPECT_NE(output.status, 0);
  EXPECT_NE(output.text.find(word), std::string::npos) << output.text;
}

TEST(FailingCalls, OfAConstructorAreTheLastWord) {
  ExpectLastWord("send", "cannot begin to receive: [mpi] MPI_Isend failed: ");
}

TEST(FailingCalls, OfADestructorAreTheLastWord) {
  ExpectLastWord("cancel", "cannot take a buffer back: [mpi] MPI_Cancel failed: ");
}

}  // namespace
}  // namespace torus::parallel

int main(int argc, char** argv) {
  using namespace torus::parallel;
  if (UnderMpirun()) return Scenario(argv[1]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
