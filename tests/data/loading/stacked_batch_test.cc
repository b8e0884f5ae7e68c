#include "data/loading/stacked_batch.h"

#include <gtest/gtest.h>

#include "data/loading/loader.h"
#include "runtime/allocator.h"
#include "runtime/stream.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

// Example i: inputs {i64 (2): i, 10 i; u8 (): i}, target i64 (1): -i. Example 4 differs.
class Numbers : public Dataset {
 public:
  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return 5; }
  Sample Get(int64_t i) const override {
    if (i == 4) return {{Zeros({3}, DType::kI64), Zeros({}, DType::kU8)}, Zeros({1}, DType::kI64)};
    return {{FromVector<int64_t>({i, 10 * i}, {2}), Full({}, static_cast<double>(i), DType::kU8)},
            FromVector<int64_t>({-i}, {1})};
  }

 private:
  DatasetInfo info_{.name = "numbers", .classes = {}, .image = {}, .normalization = {}};
};

TEST(StackedBatches, StackEachInputAndTheTarget) {
  const Numbers numbers;
  const Batch batch = StackedBatches(numbers)({.epoch = 0, .indices = {3, 1}, .samples = {5, 6}});
  ASSERT_EQ(batch.inputs.size(), 2u);
  EXPECT_EQ(batch.inputs[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(ToVector<int64_t>(batch.inputs[0]), (std::vector<int64_t>{3, 30, 1, 10}));
  EXPECT_EQ(ToVector<uint8_t>(batch.inputs[1]), (Bytes{3, 1}));
  EXPECT_EQ(batch.target.shape(), (Shape{2, 1}));
  EXPECT_EQ(ToVector<int64_t>(batch.target), (std::vector<int64_t>{-3, -1}));
  EXPECT_EQ(batch.samples, (std::vector<int64_t>{5, 6}));
}

// On a GPU (also --config=emulated_gpu).
TEST(StackedBatches, AreInPinnedMemoryWhereThatIsAskedFor) {
  if (GpuCount() == 0) GTEST_SKIP() << "no GPU, no --config=emulated_gpu: NOT tested";
  const Event use({DeviceKind::kCuda, GpuCount() - 1});  // memory is pinned with a GPU in use
  const Numbers numbers;
  const MicroBatch part{.epoch = 0, .indices = {3, 1}, .samples = {5, 6}};
  const size_t before = PinnedAllocator().stats().live_bytes;
  const Batch ordinary = StackedBatches(numbers)(part);
  EXPECT_EQ(PinnedAllocator().stats().live_bytes, before);
  const Batch pinned = StackedBatches(numbers, BatchMemory::kPinned)(part);
  EXPECT_EQ(PinnedAllocator().stats().live_bytes, before + 4 * 8 + 2 + 2 * 8);
  EXPECT_EQ(ToVector<int64_t>(pinned.inputs[0]), ToVector<int64_t>(ordinary.inputs[0]));
  EXPECT_EQ(ToVector<uint8_t>(pinned.inputs[1]), ToVector<uint8_t>(ordinary.inputs[1]));
  EXPECT_EQ(ToVector<int64_t>(pinned.target), ToVector<int64_t>(ordinary.target));
}

TEST(StackedBatches, KeepTheFormWithoutExamples) {
  const Numbers numbers;
  const Batch batch = StackedBatches(numbers)({});
  ASSERT_EQ(batch.inputs.size(), 2u);
  EXPECT_EQ(batch.inputs[0].shape(), (Shape{0, 2}));
  EXPECT_EQ(batch.inputs[0].dtype(), DType::kI64);
  EXPECT_EQ(batch.inputs[1].shape(), (Shape{0}));
  EXPECT_EQ(batch.inputs[1].dtype(), DType::kU8);
  EXPECT_EQ(batch.target.shape(), (Shape{0, 1}));
}

TEST(StackedBatches, NameTheExampleThatDiffers) {
  const Numbers numbers;
  ExpectBadInput(
      [&] {
        StackedBatches(numbers)({.indices = {0, 4}, .samples = {0, 1}});
      },
      "[numbers]", "contiguous i64 (2), got i64 (3)");
}

TEST(StackedBatches, GoThroughTheLoader) {
  const Numbers numbers;
  const Sampler sampler({.size = 4, .batch_size = 4, .shuffle = false});
  Loader loader(sampler, StackedBatches(numbers), {.replicas = 2, .steps = 2});
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(ToVector<int64_t>(loader.Fetch(step, 1, 0)->target), (std::vector<int64_t>{-2, -3}));
    EXPECT_EQ(ToVector<int64_t>(loader.Fetch(step, 0, 0)->target), (std::vector<int64_t>{0, -1}));
  }
}

}  // namespace
}  // namespace torus::data
