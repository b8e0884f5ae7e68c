// The model of tests/golden/make_checkpoints.py, and what PyTorch takes from its checkpoints.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "models/checkpoint/state_dict.h"
#include "models/nn/batch_norm2d.h"
#include "models/nn/conv2d.h"
#include "models/nn/linear.h"
#include "models/nn/sequential.h"
#include "runtime/error.h"
#include "runtime/io/safetensors.h"
#include "tests/testing/error_of.h"

namespace torus::testing {

inline const std::string kCheckpoints = "tests/golden/checkpoints/";

inline std::shared_ptr<nn::Sequential> SmallNet() {
  auto net = std::make_shared<nn::Sequential>();
  net->Add("conv", nn::Conv2d({.in = 3, .out = 4, .kernel = 3, .bias = false}));
  net->Add("bn", nn::BatchNorm2d({.channels = 4}));
  net->Add("fc", nn::Linear({.in = 4, .out = 3}));
  net->Initialize(7);
  return net;
}

inline std::map<std::string, Tensor> ByName(const std::vector<NamedTensor>& tensors) {
  std::map<std::string, Tensor> map;
  for (const NamedTensor& tensor : tensors) map[tensor.name] = tensor.value;
  return map;
}

inline bool SameBits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.Contiguous(), y = b.Contiguous();
  return x.bytes() == 0 || std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
}

// The net has the state of that name in expected.safetensors, to the bit.
inline void ExpectState(const nn::Module& net, const std::string& which) {
  const auto want = ByName(ReadSafetensors(kCheckpoints + "expected.safetensors").tensors);
  const std::vector<NamedTensor> state = StateDict(net);
  EXPECT_EQ(state.size(), 8U);
  for (const NamedTensor& tensor : state)
    EXPECT_TRUE(SameBits(tensor.value, want.at(which + "." + tensor.name))) << tensor.name;
}

}  // namespace torus::testing
