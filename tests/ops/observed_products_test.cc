// What products tell an observer of their work, without memory: a multiply-add is two operations.
#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "autograd/op_observer.h"
#include "ops/attention/attention.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul.h"

namespace torus::ops {
namespace {

struct Work : OpObserver {
  void OnOp(std::string_view, const std::vector<Variable>&, const std::vector<Variable>&) override {
  }
  void OnProduct(int64_t flops) override { total += flops; }
  int64_t total = 0;
};

Variable Leaf(const Shape& shape) {
  return Variable(Tensor(shape, DType::kF32, kMetaDevice), true);
}

int64_t BackwardOf(const Variable& y) {
  const Work work;
  Backward({y}, {Tensor(y.shape(), y.dtype(), kMetaDevice)});
  return work.total;
}

TEST(ObservedProducts, OfLinear) {
  const Work forward;
  const Variable x = Leaf({2, 3, 4}), y = Linear(x, Leaf({5, 4}), Leaf({5}));
  EXPECT_EQ(forward.total, 2 * 6 * 4 * 5);
  EXPECT_EQ(BackwardOf(y), 2 * forward.total);
  EXPECT_EQ(BackwardOf(LinearInOut(x, Leaf({4, 5}).Detach())), 2 * 6 * 4 * 5);
}

TEST(ObservedProducts, OfMatmul) {
  const Work forward;
  const Variable y = Matmul(Leaf({2, 6, 3, 4}), Leaf({2, 6, 4, 5}));
  EXPECT_EQ(forward.total, 2 * 12 * 3 * 4 * 5);
  EXPECT_EQ(BackwardOf(y), 2 * 2 * 12 * 3 * 4 * 5);
}

// 4 query heads of 3 rows and 5 keys; widths 8 of keys and 6 of values.
TEST(ObservedProducts, OfAttention) {
  const Variable q = Leaf({4, 3, 8}), k = Leaf({4, 5, 8}), v = Leaf({4, 5, 6});
  const Work forward;
  const Variable y = ScaledDotProductAttention(q, k, v);
  EXPECT_EQ(forward.total, 2 * 4 * 3 * 5 * (8 + 6));
  EXPECT_EQ(BackwardOf(y), 2 * 4 * 3 * 5 * (3 * 8 + 2 * 6));
  const Variable values = ScaledDotProductAttention(q.Detach(), k.Detach(), v);
  EXPECT_EQ(BackwardOf(values), 2 * 4 * 3 * 5 * (8 + 6));
}

// The forward makes the gradients too.
TEST(ObservedProducts, OfALinearCrossEntropy) {
  const Variable hidden = Leaf({2, 3, 4}), weight = Leaf({7, 4});
  const Variable target(Tensor({2, 3}, DType::kI64, kMetaDevice));
  const Work forward;
  const Variable y = LinearCrossEntropy(hidden, weight, {}, target);
  EXPECT_EQ(forward.total, 3 * 2 * 6 * 4 * 7);
  EXPECT_EQ(BackwardOf(y), 0);
}

}  // namespace
}  // namespace torus::ops
