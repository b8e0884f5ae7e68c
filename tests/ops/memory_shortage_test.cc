// Memory that runs out anywhere in a step is an exception, never the end of the process: above all
// not from a destructor or within a parallel region.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "autograd/backward.h"
#include "ops/conv_chain/conv_chain.h"
#include "ops/convolution/convolution.h"
#include "ops/matmul/linear.h"
#include "ops/reduction/reduction.h"
#include "runtime/parallel_for.h"
#include "runtime/rng.h"

namespace {

// Allocations until one fails; negative: none does.
std::atomic<int64_t> left{-1};

}  // namespace

// Not inlined: gcc would see `free` of what `new` gave.
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (left.load(std::memory_order_relaxed) >= 0 && left.fetch_sub(1) == 0) throw std::bad_alloc();
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace torus::ops {
namespace {

Variable Leaf(const Shape& shape, uint64_t seed) {
  Tensor values = Empty(shape);
  FillNormal(values, 0, 1, RandomStream({.seed = seed}));
  return Variable(values, true);
}

// The number of allocations of a run.
int64_t AllocationsOf(const std::function<void()>& run) {
  constexpr int64_t kMany = int64_t{1} << 40;
  left = kMany;
  run();
  return kMany - left.exchange(-1);
}

// Lets each allocation of a run fail once, and then runs it as ever.
void ExpectExceptions(const std::function<std::vector<float>()>& run) {
  const std::vector<float> want = run();
  const int64_t count = AllocationsOf(run);
  ASSERT_GT(count, 10);
  int64_t failed = 0;
  for (int64_t i = 0; i < count; ++i) {
    left = i;
    try {
      run();
    } catch (const std::exception&) {
      ++failed;
    }
    left = -1;
  }
  EXPECT_GT(failed, count / 2);
  EXPECT_EQ(run(), want);
}

TEST(MemoryShortage, AChainOfConvolutions) {
  SetTeamSize(2);
  // Enough rows for several parts, and a batch of sums left over at the end of each.
  const Shape image{2, 13, 13, 4};
  const Variable x = Leaf(image, 1), w1 = Leaf({6, 1, 1, 4}, 2), w2 = Leaf({6, 3, 3, 1}, 3),
                 w3 = Leaf({4, 1, 1, 6}, 4), g = Leaf({6}, 5), b = Leaf({6}, 6);
  const std::vector<ConvNorm> layers{
      {.weight = w1, .norm_weight = g, .norm_bias = b, .activation = Activation::kRelu6},
      {.weight = w2,
       .convolution = {.padding = {1, 1}, .groups = 6},
       .activation = Activation::kRelu6},
      {.weight = w3}};
  ExpectExceptions([&] {
    for (const Variable& leaf : {x, w1, w2, w3, g, b}) Variable(leaf).ZeroGrad();
    const ConvChainResult result = ConvChainTrain(x, layers, true);
    Backward({Sum(result.y)});
    return ToVector<float>(w1.grad());
  });
}

TEST(MemoryShortage, AGraphThatIsDropped) {
  SetTeamSize(2);
  const Variable x = Leaf({3, 4}, 1), w = Leaf({4, 4}, 2);
  ExpectExceptions([&] {
    Variable y = x;
    for (int i = 0; i < 5; ++i) y = Linear(y, w);
    return ToVector<float>(y.data());
  });
}

}  // namespace
}  // namespace torus::ops
