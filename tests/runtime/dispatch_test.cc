#include "runtime/dispatch.h"

#include <gtest/gtest.h>

#include "runtime/gpu_dispatch.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};

TEST(Dispatch, RunsTheKernelOfTheDevice) {
  int cpu = 0;
  Dispatch("op", Device{}, [&] { ++cpu; });
  EXPECT_EQ(cpu, 1);
  Dispatch("op", kMetaDevice, [&] { ++cpu; });
  Dispatch(
      "op", kMetaDevice, [&] { ++cpu; }, [&] { ++cpu; });
  EXPECT_EQ(cpu, 1);
}

TEST(Dispatch, RefusesADeviceWithoutAKernelByName) {
  try {
    Dispatch("softmax", kGpu, [] { FAIL(); });
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), kHasCuda ? "[softmax] has no kernel for cuda:0"
                                    : "[softmax] this build has no kernels for cuda:0");
  }
  if (kHasCuda) return;
  EXPECT_THROW(Dispatch(
                   "softmax", kGpu, [] {}, [] {}),
               BadInput);
}

TEST(DispatchToGpu, RefusesACpuByName) {
  try {
    DispatchToGpu("codec", Device{}, [] { FAIL(); });
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "[codec] has no kernel for cpu");
  }
  DispatchToGpu("codec", kMetaDevice, [] { FAIL(); });
}

// Memory of a pretended GPU, which nothing may touch.
Tensor OnGpu() {
  static int owner = 0, memory = 0;
  return Tensor(std::make_shared<Storage>(&memory, sizeof(memory), kGpu,
                                          std::shared_ptr<const void>(&owner, [](const void*) {})),
                {1}, {1}, 0, DType::kI32);
}

TEST(CommonDevice, IsWhereAllLieAndMetaWins) {
  const Tensor here = Zeros({2}), shape = Empty({2}, DType::kF32, kMetaDevice);
  EXPECT_EQ(CommonDevice("op", here, Tensor(), here), Device{});
  EXPECT_EQ(CommonDevice("op", Tensor()), Device{});
  EXPECT_EQ(CommonDevice("op", here, shape), kMetaDevice);
  EXPECT_EQ(CommonDevice("op", OnGpu(), OnGpu()), kGpu);
  try {
    CommonDevice("add", here, OnGpu());
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(),
                 "[add] needs its tensors on one device, got f32 (2) on cpu and i32 (1) on cuda:0");
  }
}

TEST(Tensor, ElementsOfAGpuAreNotReadOnTheHost) {
  Tensor there = OnGpu();
  EXPECT_THROW(there.data<int32_t>(), BadInput);
  EXPECT_THROW(there.mutable_data<int32_t>(), BadInput);
  EXPECT_EQ(there.version(), 0u);
  if (kHasCuda) return;
  EXPECT_THROW(Fill(there, 1), BadInput);
  EXPECT_THROW(there.To(Device{}), BadInput);
}

}  // namespace
}  // namespace torus
