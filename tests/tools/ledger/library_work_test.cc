// What is counted of products that cuBLASLt would compute.
#include "tools/ledger/library_work.h"

#include <gtest/gtest.h>

#include "ops/cuda/product_stand_in.h"
#include "runtime/dtype.h"
#include "runtime/emulated_gpu/memory.h"
#include "runtime/on_device.h"
#include "tools/ledger/machine.h"

namespace torus::ledger {
namespace {

constexpr size_t kTaken = size_t{8} << 20;

class LibraryWorkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kEmulatedGpu) GTEST_SKIP() << "only emulated GPUs hand products over";
    for (void*& block : taken_) block = emulated_gpu::TakeMemory(0, kTaken);
  }
  void TearDown() override {
    for (void* block : taken_)
      if (block != nullptr) emulated_gpu::GiveMemory(0, block);
  }

  // In bf16, of matrices whose rows follow one another.
  cuda::SeenProduct Product(int64_t m, int64_t n, int64_t k) const {
    return {.in = DType::kBF16,
            .out = DType::kBF16,
            .m = m,
            .n = n,
            .k = k,
            .a = {.data = taken_[0], .stride = k},
            .b = {.data = taken_[1], .stride = n},
            .c = {.data = taken_[2], .stride = n}};
  }

  void* taken_[3] = {};
};

TEST_F(LibraryWorkTest, AProductReadsItsOperandsAndWritesItsResult) {
  if constexpr (kEmulatedGpu) {
    const auto works = WorkOf(Product(256, 512, 64));
    ASSERT_EQ(works.size(), 1u);
    const Work& work = works[0];
    ASSERT_EQ(work.read.size(), 2u);
    ASSERT_EQ(work.written.size(), 1u);
    EXPECT_EQ(work.read[0].tensor, taken_[0]);
    EXPECT_EQ(work.read[0].bytes, 256 * 64 * 2);
    EXPECT_EQ(work.read[1].bytes, 64 * 512 * 2);
    EXPECT_EQ(work.written[0].bytes, 256 * 512 * 2);
    EXPECT_EQ(work.moved, work.must());
    EXPECT_EQ(work.flops, 2.0 * 256 * 512 * 64);
    EXPECT_EQ(work.unit, Unit::kLow);
    EXPECT_FALSE(work.unaligned);
    // All tiles together compute at least the result.
    EXPECT_GE(work.tiles * work.tile_flops, work.flops);
  }
}

TEST_F(LibraryWorkTest, WhatIsAddedToIsReadToo) {
  if constexpr (kEmulatedGpu) {
    cuda::SeenProduct product = Product(64, 64, 64);
    product.added = product.c.data;
    const auto works = WorkOf(product);
    ASSERT_EQ(works[0].read.size(), 3u);
    EXPECT_EQ(works[0].read[2].tensor, taken_[2]);
  }
}

TEST_F(LibraryWorkTest, RowsThatDoNotBeginAtSixteenBytesAreUnaligned) {
  if constexpr (kEmulatedGpu) {
    EXPECT_TRUE(WorkOf(Product(64, 63, 64))[0].unaligned);
    EXPECT_TRUE(WorkOf(Product(64, 64, 60))[0].unaligned);
    cuda::SeenProduct padded = Product(64, 63, 64);
    padded.b.stride = padded.c.stride = 64;
    EXPECT_FALSE(WorkOf(padded)[0].unaligned);
  }
}

TEST_F(LibraryWorkTest, ALongSumOfFewTilesIsSplitAndItsPartsAreAdded) {
  if constexpr (kEmulatedGpu) {
    const auto works = WorkOf(Product(64, 64, 16384));
    ASSERT_EQ(works.size(), 2u);
    EXPECT_EQ(works[0].tiles, kMultiprocessors);
    ASSERT_EQ(works[1].written.size(), 1u);
    EXPECT_EQ(works[1].written[0].tensor, taken_[2]);
    EXPECT_EQ(works[1].flops, 0);
    EXPECT_EQ(WorkOf(Product(64, 64, 4096)).size(), 1u);
  }
}

TEST_F(LibraryWorkTest, SumsOfAnOperandAreAPassOverIt) {
  if constexpr (kEmulatedGpu) {
    cuda::SeenProduct product = Product(64, 128, 32);
    product.epilogue = cuda::EpilogueKind::kSumsOfB;
    const auto works = WorkOf(product);
    ASSERT_EQ(works.size(), 2u);
    EXPECT_EQ(works[1].read.at(0).tensor, taken_[1]);
    EXPECT_EQ(works[1].must(), 32 * 128 * 2);
  }
}

}  // namespace
}  // namespace torus::ledger
