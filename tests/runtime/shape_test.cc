#include "runtime/shape.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

using testing::ErrorOf;

TEST(Shape, PrintsCountsAndStrides) {
  EXPECT_EQ(ToString(Shape{}), "()");
  EXPECT_EQ(ToString(Shape{2, 3}), "(2, 3)");
  EXPECT_EQ(Numel({}), 1);
  EXPECT_EQ(Numel({2, 0, 3}), 0);
  EXPECT_EQ(ContiguousStrides({2, 3, 4}), (Strides{12, 4, 1}));
}

TEST(Shape, EqualityComparesRankAndSizes) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{2, 3, 1}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
}

TEST(Shape, ProductsBeyondInt64AreRefused) {
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(ErrorOf([=] {
              Numel({big, big});
            }),
            "[shape] (1099511627776, 1099511627776) has more elements than can be counted");
  EXPECT_NE(ErrorOf([=] { Numel({0, big, big}); }), "no error");  // its strides are
  EXPECT_EQ(Numel({0, big}), 0);
  EXPECT_NE(ErrorOf([=] { ResolveShape("op", {big, big, -1}, 6); }), "no error");
}

TEST(Shape, HoldsAtMostEightSizes) {
  EXPECT_EQ(Dims::Filled(8, 1).rank(), 8);
  EXPECT_THROW(Dims::Filled(9, 1), BadInput);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), BadInput);
}

TEST(Shape, DimensionsCountFromEitherEnd) {
  EXPECT_EQ(NormalizeDim("op", -1, 3), 2);
  EXPECT_EQ(NormalizeDim("op", 2, 3), 2);
  EXPECT_EQ(NormalizeDim("op", -1, 0), 0);
  EXPECT_EQ(ErrorOf([] { NormalizeDim("op", 3, 3); }), "[op] dimension 3 is outside of [-3, 2]");
  EXPECT_EQ(ErrorOf([] { NormalizeDim("op", 1, 0); }), "[op] dimension 1 is outside of [-1, 0]");
}

TEST(Shape, BroadcastsAsNumPyDoes) {
  EXPECT_EQ(BroadcastShapes("op", {3, 1}, {2, 1, 4}), (Shape{2, 3, 4}));
  EXPECT_EQ(BroadcastShapes("op", {}, {2, 0}), (Shape{2, 0}));
  EXPECT_EQ(BroadcastShapes("op", {1}, {0}), (Shape{0}));
  EXPECT_EQ(ErrorOf([] {
              BroadcastShapes("op", {2, 3}, {2});
            }),
            "[op] shapes do not broadcast: (2, 3) and (2)");
  EXPECT_NE(ErrorOf([] { BroadcastShapes("op", {0}, {2}); }), "no error");
}

TEST(Shape, ResolvesOneUnknownSize) {
  EXPECT_EQ(ResolveShape("op", {2, -1}, 6), (Shape{2, 3}));
  EXPECT_EQ(ResolveShape("op", {-1}, 0), (Shape{0}));
  EXPECT_EQ(ResolveShape("op", {}, 1), (Shape{}));
  EXPECT_EQ(ErrorOf([] {
              ResolveShape("op", {4, -1}, 6);
            }),
            "[op] shape (4, -1) does not hold 6 elements");
  EXPECT_NE(ErrorOf([] { ResolveShape("op", {-1, -1}, 4); }), "no error");
  EXPECT_NE(ErrorOf([] { ResolveShape("op", {0, -1}, 0); }), "no error");
  EXPECT_NE(ErrorOf([] { ResolveShape("op", {-2}, 2); }), "no error");
}

}  // namespace
}  // namespace torus
