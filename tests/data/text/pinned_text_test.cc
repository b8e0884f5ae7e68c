// Batches of text in pinned memory. Skips where there is no GPU: run it with --config=emulated_gpu.
#include <gtest/gtest.h>

#include "data/text/document_batches.h"
#include "data/text/masking.h"
#include "data/text/open_tokenizer.h"
#include "data/text/windows.h"
#include "runtime/allocator.h"
#include "runtime/stream.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"

namespace torus::data {
namespace {

constexpr size_t kRows = 2, kLength = 10, kWord = 8;

class PinnedText : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, no --config=emulated_gpu: NOT tested";
    const Event use({DeviceKind::kCuda, GpuCount() - 1});  // memory is pinned with a GPU in use
  }

  MakeBatch Windows(BatchMemory memory) const {
    return RandomWindows(tokens_, {.length = kLength, .seed = 3, .memory = memory});
  }

  // Makes the batch in both memories. Returns the pinned bytes, after a check of the values.
  template <class Make>
  static size_t PinnedBytesOf(const Make& make) {
    const MicroBatch part{.epoch = 1, .indices = {4, 2}, .samples = {8, 9}};
    const size_t before = PinnedAllocator().stats().live_bytes;
    const Batch ordinary = make(BatchMemory::kOrdinary)(part);
    EXPECT_EQ(PinnedAllocator().stats().live_bytes, before);
    const Batch pinned = make(BatchMemory::kPinned)(part);
    EXPECT_EQ(ToVector<int64_t>(pinned.inputs[0]), ToVector<int64_t>(ordinary.inputs[0]));
    EXPECT_EQ(ToVector<int64_t>(pinned.target), ToVector<int64_t>(ordinary.target));
    return PinnedAllocator().stats().live_bytes - before;
  }

  const TokenVector tokens_{"text", 263, std::vector<int32_t>(251, 7)};
};

TEST_F(PinnedText, InWindows) {
  EXPECT_EQ(PinnedBytesOf([&](BatchMemory memory) { return Windows(memory); }),
            2 * kRows * kLength * kWord);
}

TEST_F(PinnedText, DocumentsOfWindows) {
  const auto numbered = [&](BatchMemory memory) {
    return DocumentBatches(Windows(memory), 7, memory);
  };
  EXPECT_EQ(PinnedBytesOf(numbered), 3 * kRows * kLength * kWord);
}

TEST_F(PinnedText, MaskedInWindows) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  const TokenMasker masker(*OpenRoberta(dir));
  const auto masked = [&](BatchMemory memory) {
    return MaskedBatches(Windows(BatchMemory::kOrdinary), masker, {}, memory);
  };
  EXPECT_EQ(PinnedBytesOf(masked), 2 * kRows * (kLength + TokenMasker::kAround) * kWord);
}

}  // namespace
}  // namespace torus::data
