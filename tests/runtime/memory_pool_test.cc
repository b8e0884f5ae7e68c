#include "runtime/memory_pool.h"

#include <gtest/gtest.h>

#include <thread>

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
