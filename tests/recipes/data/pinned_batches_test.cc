// Where the batches of a run on GPUs are made. Skips where there is no GPU: run it with
// --config=emulated_gpu.
#include <gtest/gtest.h>

#include <fstream>

#include "recipes/data/task_data.h"
#include "runtime/allocator.h"
#include "runtime/stream.h"

namespace torus::recipes {
namespace {

size_t PinnedBytesOf(const DataPart& part) {
  const size_t before = PinnedAllocator().stats().live_bytes;
  const data::Batch batch = part.batches({.indices = {0, 1}, .samples = {0, 1}});
  return PinnedAllocator().stats().live_bytes - before;
}

TEST(PinnedBatches, OfTextAreThoseOfRunsOnGpus) {
  if (GpuCount() == 0) GTEST_SKIP() << "no GPU, no --config=emulated_gpu: NOT tested";
  const Event use({DeviceKind::kCuda, 0});  // memory is pinned with a GPU in use
  const std::string file = ::testing::TempDir() + "/pinned.txt";
  std::ofstream(file) << std::string(400, 'a') << std::string(400, 'b');
  Settings settings;
  settings.model = "gpt-char:1";
  settings.data = "text";
  settings.data_dir = file;
  settings.tokenizer = "chars";
  settings.length = 8;
  for (const char* device : {"cpu", "cuda"}) {
    settings.device = device;
    const TaskData data = OpenTaskData(settings);
    const size_t want = settings.device == "cuda" ? 2 * 2 * 8 * sizeof(int64_t) : 0;
    EXPECT_EQ(PinnedBytesOf(data.train), want) << device;
    EXPECT_EQ(PinnedBytesOf(data.test), want) << device;
  }
}

}  // namespace
}  // namespace torus::recipes
