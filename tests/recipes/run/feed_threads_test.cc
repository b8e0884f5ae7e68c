// How many threads make batches beside the ranks of a process: by its share of its host's threads,
// not by the whole run's. The program becomes two processes, each a rank.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "parallel/transport/mpi/mpi_world.h"
#include "recipes/run/run.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"
#include "tests/recipes/run/image_run.h"

namespace torus::recipes::testing {
namespace {

namespace fs = std::filesystem;

int Makers() {
  int makers = 0;
  for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    makers += name == "torus loader";
  }
  return makers;
}

const std::string kOut = ::testing::TempDir() + "/feed_threads";

// Half of the 4 threads of each process make training batches; while the run evaluates, as many
// others make test batches.
TEST(FeedThreads, AreThoseOfTheProcessInTrainingAndEvaluation) {
  parallel::MpiWorld world;
  RunOptions options{.settings = SmallSettings(1, 2, 2), .out = kOut};
  options.settings.data_dir += std::to_string(parallel::MpiWorld::process());
  fs::create_directories(options.settings.data_dir);
  WriteImages(options.settings.data_dir, "train", 90);
  WriteImages(options.settings.data_dir, "t10k", 20);
  options.settings.threads = 8;
  options.settings.epochs = 1;
  options.max_steps = 2;
  int training = 0, most = 0;
  bool trained = false;
  const RunCallbacks callbacks{.on_step = [&](const auto&) { trained = true; },
                               .stop =
                                   [&] {
                                     const int now = Makers();
                                     if (!trained) training = now;
                                     most = std::max(most, now);
                                     return false;
                                   }};
  recipes::Run(options, callbacks, &world);
  if (parallel::MpiWorld::process() != 0) return;  // rank 0's is asked
  EXPECT_EQ(training, 2);
  EXPECT_EQ(most, 4);
}

}  // namespace
}  // namespace torus::recipes::testing

int main(int argc, char** argv) {
  using namespace torus::parallel;
  testing::InitGoogleTest(&argc, argv);
  if (UnderMpirun()) return RUN_ALL_TESTS();
  std::filesystem::remove_all(torus::recipes::testing::kOut);
  return RunMpirun(2, {argv, argv + argc});
}
