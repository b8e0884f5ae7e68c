// Index arithmetic of walks over strided operands, also where indices and sizes are beyond 32 bits.
#include "runtime/cuda/strided.h"

#include <gtest/gtest.h>

#include <vector>

namespace torus::cuda {
namespace {

// By the definition: sum_d index[d] * strides[k][d], indices taken from the last dimension on.
template <int N>
std::vector<int64_t> Expected(const BroadcastPlan& plan, int64_t i) {
  std::vector<int64_t> at(N, 0);
  for (int d = plan.shape.rank() - 1; d >= 0; --d) {
    for (int k = 0; k < N; ++k) at[k] += i % plan.shape[d] * plan.strides[k][d];
    i /= plan.shape[d];
  }
  return at;
}

template <int N>
void ExpectPlaces(const BroadcastPlan& plan, int64_t i) {
  const auto places = WalkOf<N>(plan)(i);
  const auto expected = Expected<N>(plan, i);
  for (int k = 0; k < N; ++k) EXPECT_EQ(places.at[k], expected[k]) << "element " << i << ", " << k;
}

TEST(Strided, AScalarLiesAtZero) {
  const BroadcastPlan scalar{.operands = 2};
  ExpectPlaces<2>(scalar, 0);
}

TEST(Strided, EveryElementOfAFullRank) {
  BroadcastPlan plan{.shape = {2, 1, 3, 2, 1, 2, 3, 2}, .operands = 3};
  plan.strides = {Strides{72, 72, 24, 12, 12, 6, 2, 1}, Strides{0, 5, 0, 7, 0, 1000, 0, 3},
                  Strides{-1, -2, -3, -4, -5, -6, -7, -8}};
  for (int64_t i = 0; i < Numel(plan.shape); ++i) ExpectPlaces<3>(plan, i);
}

constexpr int64_t k32 = int64_t{1} << 32;

TEST(Strided, IndicesBeyond32Bits) {
  BroadcastPlan plan{.shape = {5, 3, k32 / 2 - 1, 7}, .operands = 2};
  plan.strides = {ContiguousStrides(plan.shape), Strides{1, 5, 15, k32}};
  const int64_t count = Numel(plan.shape);
  for (int64_t i : {int64_t{0}, k32 / 2 - 1, k32 / 2, k32 - 1, k32, k32 + 1, count / 2, count - 1})
    ExpectPlaces<2>(plan, i);
}

// The sizes are above 32 bits while the index is not: cut to 32 bits, 2^32 + 3 would be 3.
TEST(Strided, SizesBeyond32Bits) {
  BroadcastPlan plan{.shape = {2, 3, k32 + 3}, .operands = 2};
  plan.strides = {ContiguousStrides(plan.shape), Strides{0, -7, 2}};
  const int64_t count = Numel(plan.shape);
  for (int64_t i : {int64_t{5}, k32 - 1, k32, k32 + 2, k32 + 3, 2 * k32 + 6, count - 1})
    ExpectPlaces<2>(plan, i);
  BroadcastPlan whole{.shape = {2, k32}, .operands = 1};
  whole.strides = {Strides{k32, 1}};
  for (int64_t i : {int64_t{5}, k32 - 1, k32, 2 * k32 - 1}) ExpectPlaces<1>(whole, i);
}

}  // namespace
}  // namespace torus::cuda
