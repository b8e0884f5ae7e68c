#include "tests/layering/device_rules.h"

#include <gtest/gtest.h>

namespace torus::layering {
namespace {

using Violations = std::vector<std::string>;

TEST(DeviceRules, KernelsStandBehindTheirDoor) {
  const std::string path = "ops/softmax/softmax.cc";
  EXPECT_EQ(CheckDeviceCode(path, "kernels::Softmax(x, y);  // of x.data<float>()"), Violations());
  EXPECT_EQ(CheckDeviceCode(path, "\nx.data<float>();"),
            Violations{path + ":2: may not touch a tensor's memory"});
  EXPECT_EQ(CheckDeviceCode(path, "void* p = y.mutable_raw();"),
            Violations{path + ":1: may not touch a tensor's memory"});
  EXPECT_EQ(CheckDeviceCode(path, "ParallelFor(n, 1, body);"),
            Violations{path + ":1: may not call ParallelFor"});
  EXPECT_EQ(CheckDeviceCode(path, "cpu::Softmax(x, y);"),
            Violations{path + ":1: may not name a device's kernels"});
  EXPECT_EQ(CheckDeviceCode("models/vgg/vgg.cc", "x.data<float>()").size(), 1u);
}

TEST(DeviceRules, ADoorNamesDevicesAndNoMemory) {
  const std::string path = "ops/softmax/kernels.h";
  EXPECT_EQ(CheckDeviceCode(path, "[&] { cpu::Softmax(x, y); }"), Violations());
  EXPECT_EQ(CheckDeviceCode(path, "cpu::Softmax(x.data<float>())").size(), 1u);
}

TEST(DeviceRules, KernelsMayDoAllThree) {
  for (const char* path : {"ops/softmax/cpu/softmax.cc", "ops/softmax/cuda/softmax.cu",
                           "ops/cpu/gemm.cc", "runtime/tensor.cc", "parallel/optim/sgd.cc"})
    EXPECT_EQ(CheckDeviceCode(path, "ParallelFor(cpu::Grain(), x.data<float>());"), Violations())
        << path;
}

}  // namespace
}  // namespace torus::layering
