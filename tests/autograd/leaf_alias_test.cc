#include "autograd/leaf_alias.h"

#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "tests/autograd/toy_ops.h"

namespace torus {
namespace {

using testing::ToyMul;

Variable Leaf(double value) { return Variable(Full({2}, value, DType::kF64), true); }

TEST(LeafAlias, TakesTheGradientOfItsUse) {
  const Variable w = Leaf(3), x = Leaf(5);
  const Variable alias(w.data(), true);
  const LeafAliases aliases = {{w, alias}};
  const Variable first = ToyMul(x, w);
  Variable second;
  {
    const LeafAlias scope(aliases);
    second = ToyMul(first, w);
  }
  EXPECT_EQ(ToVector<double>(second.data()), (std::vector<double>{45, 45}));
  Backward({second}, {Full({2}, 1, DType::kF64)});
  EXPECT_EQ(ToVector<double>(alias.grad()), (std::vector<double>{15, 15}));
  EXPECT_EQ(ToVector<double>(w.grad()), (std::vector<double>{15, 15}));
  EXPECT_EQ(ToVector<double>(x.grad()), (std::vector<double>{9, 9}));
}

TEST(LeafAlias, AnInnerOneGoesBeforeAndEnds) {
  const Variable w = Leaf(3);
  const Variable outer(w.data(), true), inner(w.data(), true);
  const LeafAliases outer_aliases = {{w, outer}}, inner_aliases = {{w, inner}};
  EXPECT_EQ(LeafAlias::Of(w), w);
  {
    const LeafAlias a(outer_aliases);
    EXPECT_EQ(LeafAlias::Of(w), outer);
    {
      const LeafAlias b(inner_aliases);
      EXPECT_EQ(LeafAlias::Of(w), inner);
    }
    EXPECT_EQ(LeafAlias::Of(w), outer);
  }
  EXPECT_EQ(LeafAlias::Of(w), w);
}

}  // namespace
}  // namespace torus
