#include "runtime/emulated_gpu/fiber.h"

#include <gtest/gtest.h>

#include <string>

namespace torus::emulated_gpu {
namespace {

TEST(Fiber, StopsInTheMiddleAndGoesOn) {
  std::string said;
  Fiber* self = nullptr;
  Fiber fiber([&] {
    for (char c = 'a'; c <= 'c'; ++c) {
      said += c;
      self->Pause();
    }
  });
  self = &fiber;
  EXPECT_TRUE(fiber.ended());
  for (int i = 0; i < 3; ++i) {
    fiber.Resume();
    EXPECT_FALSE(fiber.ended());
    said += '-';
  }
  fiber.Resume();
  EXPECT_TRUE(fiber.ended());
  EXPECT_EQ(said, "a-b-c-");
}

TEST(Fiber, BeginsAnewWhereItHasEnded) {
  int runs = 0;
  Fiber fiber([&] { ++runs; });
  for (int i = 1; i <= 3; ++i) {
    fiber.Resume();
    EXPECT_EQ(runs, i);
    EXPECT_TRUE(fiber.ended());
  }
}

TEST(Fiber, EachHasItsOwnStack) {
  Fiber *first = nullptr, *second = nullptr;
  int sum = 0;
  const auto body = [&sum](Fiber*& self, int step) {
    int mine = step;
    for (int i = 0; i < 100; ++i) {
      self->Pause();
      mine += step;
    }
    sum += mine;
  };
  Fiber a([&] { body(first, 1); }), b([&] { body(second, 1000); });
  first = &a;
  second = &b;
  for (int i = 0; i < 101; ++i) {
    a.Resume();
    b.Resume();
  }
  EXPECT_TRUE(a.ended() && b.ended());
  EXPECT_EQ(sum, 101 * 1001);
}

}  // namespace
}  // namespace torus::emulated_gpu
