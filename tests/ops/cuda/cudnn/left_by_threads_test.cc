#include "ops/cuda/cudnn/left_by_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace torus::cuda {
namespace {

// Each test has a type of its own, and so nothing that another one has left.
template <int kTest>
struct Library {
  static inline std::atomic<int> made = 0;
  int uses = 0;
};

template <int kTest>
Library<kTest>& Get(int gpu) {
  return LeftByThreads<Library<kTest>>::Of(gpu, [] {
    ++Library<kTest>::made;
    return std::make_unique<Library<kTest>>();
  });
}

TEST(LeftByThreads, ServesTheNextThread) {
  for (int i = 0; i < 3; ++i)
    std::thread([&] {
      for (int use = 0; use < 2; ++use) EXPECT_EQ(Get<0>(0).uses++, 2 * i + use);
    }).join();
  EXPECT_EQ(Library<0>::made, 1);
}

TEST(LeftByThreads, IsOfOneThreadAtATime) {
  std::thread([] {
    Library<1>& mine = Get<1>(0);
    std::thread([&] { EXPECT_NE(&Get<1>(0), &mine); }).join();
    EXPECT_EQ(&Get<1>(0), &mine);
  }).join();
  EXPECT_EQ(Library<1>::made, 2);
}

TEST(LeftByThreads, IsOfOneGpu) {
  std::thread([] { EXPECT_NE(&Get<2>(0), &Get<2>(1)); }).join();
  std::thread([] { Get<2>(1).uses = 7; }).join();
  std::thread([] {
    EXPECT_EQ(Get<2>(0).uses, 0);
    EXPECT_EQ(Get<2>(1).uses, 7);
  }).join();
  EXPECT_EQ(Library<2>::made, 2);
}

TEST(LeftByThreads, KeepsNothingThatCouldNotBeMade) {
  using Lent = LeftByThreads<Library<3>>;
  std::thread([] {
    const auto fail = []() -> std::unique_ptr<Library<3>> { throw std::runtime_error("none"); };
    EXPECT_THROW(Lent::Of(0, fail), std::runtime_error);
    EXPECT_EQ(Get<3>(0).uses, 0);
  }).join();
  EXPECT_EQ(Library<3>::made, 1);
}

}  // namespace
}  // namespace torus::cuda
