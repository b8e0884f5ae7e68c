#include "runtime/allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "runtime/caching_allocator.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "runtime/rng.h"

namespace torus {
namespace {

// A source that counts, and has only so much.
class Counting : public MemorySource {
 public:
  explicit Counting(size_t most = size_t{1} << 40) : most_(most) {}
  std::string Name() const override { return "test"; }
  void* Take(size_t bytes) override {
    if (taken + bytes > most_) return nullptr;
    taken += bytes;
    ++takes;
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void Give(void* block, size_t bytes) noexcept override {
    taken -= bytes;
    std::free(block);
  }
  size_t taken = 0;
  int takes = 0;

 private:
  size_t most_;
};

struct Fixture {
  explicit Fixture(size_t most = size_t{1} << 40, bool cached = true)
      : source(new Counting(most)), allocator(std::unique_ptr<MemorySource>(source), cached) {}
  Counting* source;
  CachingAllocator allocator;
};

TEST(SizeClass, HoldsTheRequestAndLosesAtMostAnEighth) {
  size_t previous = 0;
  int index = -1;
  for (size_t bytes = 1; bytes < (size_t{1} << 40); bytes += 1 + bytes / 37) {
    const SizeClass size = SizeClassOf(bytes);
    ASSERT_GE(size.bytes, bytes);
    ASSERT_LE(size.bytes - bytes, std::max<size_t>(63, bytes / 8));
    ASSERT_EQ(size.bytes % 64, 0u);
    ASSERT_EQ(SizeClassOf(size.bytes).index, size.index);
    ASSERT_TRUE(size.index == index ? size.bytes == previous : size.bytes > previous);
    index = size.index;
    previous = size.bytes;
  }
}

TEST(SizeClass, IndicesAreDenseFromNoneToAll) {
  EXPECT_EQ(SizeClassOf(0).index, 0);
  EXPECT_EQ(SizeClassOf(kMostBytes).index, kSizeClasses - 1);
  size_t bytes = 0;
  for (int i = 0; i < kSizeClasses; ++i) {
    const SizeClass size = SizeClassOf(bytes + 1);
    ASSERT_EQ(size.index, i);
    bytes = size.bytes;
  }
}

TEST(CachingAllocator, ReusesTheBlockFreedLast) {
  Fixture f;
  void* a = f.allocator.Allocate(1000);
  void* b = f.allocator.Allocate(1000);
  EXPECT_NE(a, b);
  f.allocator.Free(a, 1000);
  f.allocator.Free(b, 1000);
  EXPECT_EQ(f.allocator.Allocate(1001), b);  // of the same class
  EXPECT_EQ(f.source->takes, 2);
  f.allocator.Free(b, 1001);
}

TEST(CachingAllocator, CountsLivePeakHeld) {
  Fixture f;
  void* a = f.allocator.Allocate(100);
  void* b = f.allocator.Allocate(5000);
  EXPECT_EQ(f.allocator.stats().live_bytes, 5100u);
  EXPECT_EQ(f.allocator.stats().held_bytes, f.source->taken);
  f.allocator.Free(b, 5000);
  EXPECT_EQ(f.allocator.stats().live_bytes, 100u);
  EXPECT_EQ(f.allocator.stats().peak_bytes, 5100u);
  EXPECT_EQ(f.allocator.stats().held_bytes, f.source->taken);
  f.allocator.ResetPeak();
  EXPECT_EQ(f.allocator.stats().peak_bytes, 100u);
  EXPECT_EQ(f.allocator.stats().allocations, 2u);
  f.allocator.ReleaseCached();
  EXPECT_EQ(f.source->taken, 128u);
  EXPECT_EQ(f.allocator.stats().held_bytes, 128u);
  f.allocator.Free(a, 100);
}

TEST(CachingAllocator, LimitReleasesTheCacheBeforeItFails) {
  Fixture f;
  f.allocator.SetLimit(4096);
  f.allocator.Free(f.allocator.Allocate(3072), 3072);
  void* block = f.allocator.Allocate(4096);  // only fits when the cached block goes
  EXPECT_EQ(f.allocator.stats().held_bytes, 4096u);
  f.allocator.Free(block, 4096);
}

TEST(CachingAllocator, LimitSaysWhatWasAskedAndHeld) {
  Fixture f;
  f.allocator.SetLimit(4 << 20);
  void* block = f.allocator.Allocate(3 << 20);
  try {
    f.allocator.Allocate(2 << 20);
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_STREQ(
        e.what(),
        "[allocator] out of memory on test: asked for 2.0 MiB, 3.0 MiB live, 3.0 MiB held, "
        "limit 4.0 MiB");
  }
  f.allocator.SetLimit(0);
  f.allocator.Free(f.allocator.Allocate(2 << 20), 2 << 20);
  f.allocator.Free(block, 3 << 20);
}

TEST(CachingAllocator, SystemWithoutMoreIsSaid) {
  Fixture f(8192);
  f.allocator.Free(f.allocator.Allocate(8192), 8192);
  f.allocator.Free(f.allocator.Allocate(4096),
                   4096);  // the source is full of cached bytes: they go
  for (size_t bytes : {size_t{8193}, kMostBytes, kMostBytes + 1, ~size_t{0}})
    EXPECT_THROW(f.allocator.Allocate(bytes), BrokenEnvironment) << bytes;
  EXPECT_EQ(f.allocator.stats().live_bytes, 0u);
}

TEST(CachingAllocator, WithoutCacheBlocksGoStraightBack) {
  Fixture f(size_t{1} << 40, false);
  f.allocator.Free(f.allocator.Allocate(100), 100);
  EXPECT_EQ(f.source->taken, 0u);
  EXPECT_EQ(f.allocator.stats().held_bytes, 0u);
  EXPECT_EQ(f.allocator.stats().peak_bytes, 100u);
}

TEST(CpuAllocator, BlocksAreAlignedAndTheirOwn) {
  Allocator& cpu = AllocatorFor({});
  const MemoryStats before = cpu.stats();
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t bytes : {0, 1, 63, 64, 65, 4096, 1 << 20, 2 << 20, (2 << 20) + 1, 9 << 20}) {
    char* block = static_cast<char*>(cpu.Allocate(bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u) << bytes;
    std::memset(block, static_cast<int>(blocks.size()), bytes);
    blocks.emplace_back(block, bytes);
  }
  std::set<char*> unique;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, bytes] = blocks[i];
    unique.insert(block);
    for (size_t at = 0; at < bytes; at += 1 + bytes / 100)
      ASSERT_EQ(block[at], static_cast<char>(i));
    cpu.Free(block, bytes);
  }
  EXPECT_EQ(unique.size(), blocks.size());
  EXPECT_EQ(cpu.stats().live_bytes, before.live_bytes);
}

TEST(CpuAllocator, ManyThreadsKeepTheirBlocks) {
  Allocator& cpu = AllocatorFor({});
  const size_t before = cpu.stats().live_bytes;
  const auto work = [&](uint64_t seed) {
    const RandomStream random({seed});
    std::vector<std::pair<uint64_t*, size_t>> mine;
    for (uint64_t i = 0; i < 4000; ++i) {
      const size_t count = 1 + random.Below(2 * i, i % 97 == 0 ? 600000 : 3000);
      auto* block = static_cast<uint64_t*>(cpu.Allocate(count * 8));
      block[0] = block[count - 1] = seed << 32 | i;
      mine.emplace_back(block, count);
      if (mine.size() < 20) continue;
      std::swap(mine[random.Below(2 * i + 1, mine.size())], mine.back());
      const auto [old, length] = mine.back();
      ASSERT_EQ(old[0] >> 32, seed);
      ASSERT_EQ(old[0], old[length - 1]);
      cpu.Free(old, length * 8);
      mine.pop_back();
    }
    for (const auto& [block, count] : mine) cpu.Free(block, count * 8);
  };
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t <= 4; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cpu.stats().live_bytes, before);
  EXPECT_LE(cpu.stats().live_bytes, cpu.stats().held_bytes);
}

TEST(CpuAllocator, SaysWhatIsZeroAndOnlyThat) {
  Allocator& cpu = AllocatorFor({});
  constexpr size_t kBytes = (size_t{37} << 20) + 8;  // of a class that no other test uses
  bool zeros = false;
  auto* fresh = static_cast<uint64_t*>(cpu.Allocate(kBytes, &zeros));
  const bool all = std::all_of(fresh, fresh + kBytes / 8, [](uint64_t x) { return x == 0; });
  EXPECT_TRUE(all || !zeros);
  std::memset(fresh, 1, kBytes);
  cpu.Free(fresh, kBytes);
  auto* again = static_cast<uint64_t*>(cpu.Allocate(kBytes, &zeros));
  EXPECT_FALSE(again == fresh && zeros);
  cpu.Free(again, kBytes);
}

// The cache must not hide from AddressSanitizer what tests are run under it for.
#ifdef __SANITIZE_ADDRESS__
TEST(CpuAllocatorDeathTest, SanitizerSeesUseAfterFreeAndOverrun) {
  volatile char* block = static_cast<char*>(AllocatorFor({}).Allocate(100));
  EXPECT_DEATH(block[100] = 1, "heap-buffer-overflow");
  AllocatorFor({}).Free(const_cast<char*>(block), 100);
  EXPECT_DEATH(block[0] = 1, "heap-use-after-free");
}
#endif

TEST(CpuAllocator, OtherDevicesAreRefused) {
  if (kHasCuda) GTEST_SKIP() << "this build has CUDA";
  EXPECT_THROW(AllocatorFor({DeviceKind::kCuda, 0}), BadInput);
}

}  // namespace
}  // namespace torus
