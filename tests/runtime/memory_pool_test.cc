#include "runtime/memory_pool.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/error.h"
#include "runtime/tensor.h"

namespace torus {
namespace {

constexpr Device kCpu{};
const Shape kSome{1000};

TEST(MemoryPool, ServesItsThreadWhileItIsTheCurrentOne) {
  const auto pool = std::make_shared<MemoryPool>(kCpu);
  EXPECT_EQ(PoolHere(kCpu), nullptr);
  {
    const WithPool with(pool);
    EXPECT_EQ(PoolHere(kCpu), pool.get());
    EXPECT_EQ(PoolHere({DeviceKind::kCuda, 0}), nullptr);
    std::thread([] { EXPECT_EQ(PoolHere(kCpu), nullptr); }).join();
    Zeros(kSome);
    const size_t held = pool->held_bytes();
    EXPECT_GE(held, 4000u);
    Zeros(kSome);
    EXPECT_EQ(pool->held_bytes(), held);  // the same block
  }
  EXPECT_EQ(PoolHere(kCpu), nullptr);
  const size_t held = pool->held_bytes();
  Zeros({100000});
  EXPECT_EQ(pool->held_bytes(), held);
}

TEST(MemoryPool, ATensorOutlivesIt) {
  const size_t before = AllocatorFor(kCpu).stats().live_bytes;
  Tensor kept;
  {
    const auto pool = std::make_shared<MemoryPool>(kCpu);
    const WithPool with(pool);
    kept = Full(kSome, 3);
    Zeros({5000});
  }
  EXPECT_GT(AllocatorFor(kCpu).stats().live_bytes, before);
  EXPECT_EQ(kept.data<float>()[999], 3);
  kept = Tensor();
  EXPECT_EQ(AllocatorFor(kCpu).stats().live_bytes, before);
}

// Sets the limit of the CPU's allocator to so many more bytes than it holds now.
class WithLimit {
 public:
  explicit WithLimit(size_t more) : before_(AllocatorFor(kCpu).stats().limit_bytes) {
    AllocatorFor(kCpu).ReleaseCached();
    AllocatorFor(kCpu).SetLimit(AllocatorFor(kCpu).stats().held_bytes + more);
  }
  ~WithLimit() { AllocatorFor(kCpu).SetLimit(before_); }

 private:
  const size_t before_;
};

// Work that was recorded before the shortage uses the freed block at each launch.
TEST(MemoryPool, KeepsWhatWasFreedWhenMemoryRunsOut) {
  const auto pool = std::make_shared<MemoryPool>(kCpu);
  const WithLimit limit(size_t{3} << 19);
  const void* freed = nullptr;
  {
    const WithPool with(pool);
    freed = Zeros({150000}).raw();
    const size_t held = pool->held_bytes();
    for (int i = 0; i < 3; ++i) EXPECT_THROW(Zeros({250000}), BrokenEnvironment);
    EXPECT_EQ(pool->held_bytes(), held);
  }
  const Tensor other = Zeros({150000});
  EXPECT_NE(other.raw(), freed);
  const WithPool with(pool);
  EXPECT_EQ(Zeros({150000}).raw(), freed);
}

TEST(MemoryPool, HandsNoBlockOfItsOwnToOthers) {
  const auto pool = std::make_shared<MemoryPool>(kCpu);
  const void* freed = nullptr;
  {
    const WithPool with(pool);
    freed = Zeros(kSome).raw();
  }
  const Tensor a = Zeros(kSome), b = Zeros(kSome);
  EXPECT_NE(a.raw(), freed);
  EXPECT_NE(b.raw(), freed);
  const WithPool with(pool);
  EXPECT_EQ(Zeros(kSome).raw(), freed);
}

}  // namespace
}  // namespace torus
