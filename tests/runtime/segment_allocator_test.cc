#include "runtime/segment_allocator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "runtime/allocator_source.h"
#include "runtime/error.h"

namespace {
thread_local bool no_memory = false;
}

// Not inlined, or gcc takes malloc and free for a wrong pair.
[[gnu::noinline]] void* operator new(size_t bytes) {
  void* const block = no_memory ? nullptr : std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace torus {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// A source that counts, and has only so much.
class Counting : public MemorySource {
 public:
  explicit Counting(size_t most) : most_(most) {}
  std::string Name() const override { return "test"; }
  void* Take(size_t bytes) override {
    if (fails) Throw<BrokenEnvironment>("test", "fails");
    if (taken + bytes > most_) return nullptr;
    taken += bytes;
    ++takes;
    return std::aligned_alloc(512, bytes);
  }
  void Give(void* block, size_t bytes) noexcept override {
    taken -= bytes;
    ++gives;
    std::free(block);
  }
  size_t taken = 0;
  int takes = 0, gives = 0;
  bool fails = false;

 private:
  size_t most_;
};

struct Fixture {
  explicit Fixture(size_t most = size_t{1} << 40)
      : source(new Counting(most)), allocator(std::unique_ptr<MemorySource>(source)) {}
  Counting* source;
  SegmentAllocator allocator;
};

TEST(SegmentAllocator, DividesASegmentAndMergesItAgain) {
  Fixture f;
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(f.allocator.Allocate(3 * kMiB));
  EXPECT_EQ(f.source->takes, 1);
  EXPECT_EQ(f.allocator.stats().live_bytes, 18 * kMiB);
  EXPECT_EQ(f.allocator.stats().held_bytes, 20 * kMiB);
  // In an order in which each has a free neighbour before, behind, on both sides, or none.
  for (int i : {1, 0, 4, 2, 5, 3}) f.allocator.Free(blocks[i], 3 * kMiB);
  void* const whole = f.allocator.Allocate(20 * kMiB);
  EXPECT_EQ(whole, blocks[0]);
  EXPECT_EQ(f.source->takes, 1);
  f.allocator.Free(whole, 20 * kMiB);
  f.allocator.ReleaseCached();
  EXPECT_EQ(f.source->taken, 0u);
  EXPECT_EQ(f.allocator.stats().held_bytes, 0u);
}

TEST(SegmentAllocator, TakesTheSmallestBlockThatFits) {
  Fixture f;
  void* const large = f.allocator.Allocate(30 * kMiB);
  void* const middle = f.allocator.Allocate(24 * kMiB);
  f.allocator.Free(large, 30 * kMiB);
  f.allocator.Free(middle, 24 * kMiB);
  EXPECT_EQ(f.allocator.Allocate(23 * kMiB), middle);
  EXPECT_EQ(f.allocator.Allocate(23 * kMiB), large);
  f.allocator.Free(middle, 23 * kMiB);
  f.allocator.Free(large, 23 * kMiB);
}

TEST(SegmentAllocator, SmallRequestsHaveSegmentsOfTheirOwn) {
  Fixture f;
  void* const large = f.allocator.Allocate(20 * kMiB);
  f.allocator.Free(large, 20 * kMiB);
  void* const small = f.allocator.Allocate(100);
  EXPECT_EQ(f.allocator.stats().held_bytes, 22 * kMiB);
  EXPECT_EQ(f.allocator.Allocate(20 * kMiB), large);
  f.allocator.Free(small, 100);
  f.allocator.Free(large, 20 * kMiB);
}

TEST(SegmentAllocator, AShortageGivesBackNoMoreThanIsNeeded) {
  Fixture f(64 * kMiB);
  void *const a = f.allocator.Allocate(20 * kMiB), *const b = f.allocator.Allocate(24 * kMiB),
              *const c = f.allocator.Allocate(16 * kMiB);
  f.allocator.Free(a, 20 * kMiB);
  f.allocator.Free(b, 24 * kMiB);
  f.allocator.Free(c, 16 * kMiB);
  void* const block = f.allocator.Allocate(28 * kMiB);
  EXPECT_EQ(f.source->gives, 1);  // the 24 MiB
  EXPECT_EQ(f.allocator.Allocate(20 * kMiB), a);
  f.allocator.Free(a, 20 * kMiB);
  f.allocator.Free(block, 28 * kMiB);
}

TEST(SegmentAllocator, TheLastOfTheMemoryIsUsedWithoutASharedSegment) {
  Fixture f(5 * kMiB);
  void* const block = f.allocator.Allocate(3 * kMiB);
  EXPECT_EQ(f.allocator.stats().held_bytes, 3 * kMiB);
  f.allocator.Free(block, 3 * kMiB);
}

TEST(SegmentAllocator, SmallRequestsDivideALargeSegmentRatherThanFail) {
  Fixture f(20 * kMiB);
  void *const a = f.allocator.Allocate(9 * kMiB), *const b = f.allocator.Allocate(9 * kMiB);
  void* const small = f.allocator.Allocate(1000);
  EXPECT_EQ(f.source->takes, 1);
  f.allocator.Free(a, 9 * kMiB);
  f.allocator.Free(b, 9 * kMiB);
  f.allocator.Free(small, 1000);
  EXPECT_EQ(f.allocator.Allocate(20 * kMiB), a);
  f.allocator.Free(a, 20 * kMiB);
}

TEST(SegmentAllocator, LimitSaysWhatWasAskedAndHeld) {
  Fixture f;
  f.allocator.SetLimit(40 * kMiB);
  void* const block = f.allocator.Allocate(30 * kMiB);
  try {
    f.allocator.Allocate(20 * kMiB);
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_STREQ(e.what(),
                 "[allocator] out of memory on test: asked for 20.0 MiB, 30.0 MiB live, 30.0 MiB "
                 "held, limit 40.0 MiB");
  }
  for (size_t bytes : {(size_t{1} << 48) + 1, ~size_t{0}})
    EXPECT_THROW(f.allocator.Allocate(bytes), BrokenEnvironment) << bytes;
  EXPECT_EQ(f.allocator.stats().live_bytes, 30 * kMiB);
  f.allocator.Free(block, 30 * kMiB);
}

TEST(SegmentAllocator, HoldsNothingOfASourceThatFails) {
  Fixture f;
  f.source->fails = true;
  EXPECT_THROW(f.allocator.Allocate(3 * kMiB), BrokenEnvironment);
  EXPECT_EQ(f.allocator.stats().held_bytes, 0u);
}

// An allocator over a device's, as a graph's pool is.
struct PoolFixture : Fixture {
  explicit PoolFixture(size_t most)
      : Fixture(most), pool(std::make_unique<AllocatorSource>(allocator, Device())) {}
  SegmentAllocator pool;
};

TEST(SegmentAllocatorOverAnother, UsesTheLastOfTheMemoryWithoutASharedSegment) {
  PoolFixture f(5 * kMiB);
  void* const block = f.pool.Allocate(3 * kMiB);
  EXPECT_EQ(f.pool.stats().held_bytes, 3 * kMiB);
  f.pool.Free(block, 3 * kMiB);
}

TEST(SegmentAllocatorOverAnother, DividesALargeSegmentRatherThanFail) {
  PoolFixture f(20 * kMiB);
  void *const large = f.pool.Allocate(9 * kMiB), *const small = f.pool.Allocate(1000);
  EXPECT_EQ(f.pool.stats().held_bytes, 20 * kMiB);
  f.pool.Free(large, 9 * kMiB);
  f.pool.Free(small, 1000);
}

TEST(SegmentAllocatorOverAnother, GivesNothingBackBeforeItEnds) {
  PoolFixture f(64 * kMiB);
  void *const used = f.pool.Allocate(20 * kMiB), *const others = f.allocator.Allocate(30 * kMiB);
  f.pool.Free(used, 20 * kMiB);
  try {
    f.pool.Allocate(40 * kMiB);  // 44 would be left without the 20
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_STREQ(e.what(),
                 "[allocator] out of memory on cpu: asked for 40.0 MiB, 0.0 MiB live, 20.0 MiB "
                 "held, and of the device's 50.0 MiB live, 50.0 MiB held");
  }
  EXPECT_EQ(f.pool.stats().held_bytes, 20 * kMiB);
  EXPECT_EQ(f.allocator.stats().live_bytes, 50 * kMiB);
  EXPECT_EQ(f.pool.Allocate(20 * kMiB), used);
  f.pool.Free(used, 20 * kMiB);
  f.allocator.Free(others, 30 * kMiB);
}

TEST(SegmentAllocator, NothingIsLostWhereTheHostHasNoMemory) {
  Fixture f;
  void *const a = f.allocator.Allocate(2 * kMiB), *const b = f.allocator.Allocate(2 * kMiB);
  no_memory = true;
  EXPECT_THROW(f.allocator.Allocate(4 * kMiB), std::bad_alloc);   // a part of the segment
  EXPECT_THROW(f.allocator.Allocate(64 * kMiB), std::bad_alloc);  // a segment
  f.allocator.Free(a, 2 * kMiB);
  f.allocator.Free(b, 2 * kMiB);
  no_memory = false;
  EXPECT_EQ(f.allocator.stats().held_bytes, 20 * kMiB);
  EXPECT_EQ(f.allocator.Allocate(20 * kMiB), a);
  f.allocator.Free(a, 20 * kMiB);
  EXPECT_EQ(f.allocator.stats().live_bytes, 0u);
}

// Blocks of many sizes on several threads: no two overlap, and all come together in the end.
TEST(SegmentAllocator, BlocksAreTheirOwn) {
  Fixture f;
  const auto work = [&](uint64_t seed) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    struct Held {
      unsigned char* block;
      size_t bytes;
    };
    std::vector<Held> all;
    const auto check_and_free = [&](size_t i) {
      const auto mark = static_cast<unsigned char>(all[i].bytes + seed);
      EXPECT_EQ(all[i].block[0], mark);
      EXPECT_EQ(all[i].block[all[i].bytes - 1], mark);
      f.allocator.Free(all[i].block, all[i].bytes);
      all[i] = all.back();
      all.pop_back();
    };
    for (int step = 0; step < 4000; ++step) {
      const uint32_t word = random();
      if (all.size() > 30 || (!all.empty() && word % 2 == 0)) {
        check_and_free(word / 2 % all.size());
        continue;
      }
      const size_t bytes = 1 + (random() >> (word / 2 % 12 + 7));  // up to 32 MiB
      auto* const block = static_cast<unsigned char*>(f.allocator.Allocate(bytes));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 512, 0u);
      block[0] = block[bytes - 1] = static_cast<unsigned char>(bytes + seed);
      all.push_back({block, bytes});
    }
    while (!all.empty()) check_and_free(0);
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 3; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(f.allocator.stats().live_bytes, 0u);
  f.allocator.ReleaseCached();
  EXPECT_EQ(f.source->taken, 0u);
  EXPECT_EQ(f.source->takes, f.source->gives);
}

}  // namespace
}  // namespace torus
