// Calls of ops on the device meta, held against the same on the CPU.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "autograd/backward.h"
#include "autograd/op_observer.h"
#include "tests/ops/op_test.h"

namespace torus::ops {

// One call. `op` is the name that it records, empty where it records none.
struct Row {
  std::string op;
  std::vector<Tensor> inputs;  // floating ones require a gradient
  testing::CheckedFunction call;
};

inline Tensor F32(const Shape& shape) { return Full(shape, 0.5); }
inline Tensor Indices(const Shape& shape) { return Zeros(shape, DType::kI64); }
inline Tensor Mask(const Shape& shape) { return Full(shape, 1, DType::kBool); }

// A row of one input and one output.
template <class F>
Row One(const std::string& op, const Shape& shape, const F& f) {
  return {op, {F32(shape)}, Of(f)};
}

// A row of two inputs that broadcast.
template <class F>
Row Two(const std::string& op, const F& f) {
  return {op, {F32({2, 1, 3}), F32({4, 1})}, [f](const Variables& in) {
            return Variables{f(in[0], in[1])};
          }};
}

using V = const Variable&;

struct NamesOfOps : OpObserver {
  void OnOp(std::string_view op, const Variables&, const Variables&) override {
    seen.insert(std::string(op));
  }
  void OnProduct(int64_t) override {}
  std::set<std::string> seen;
};

inline std::string KindOf(const Tensor& t) {
  return t.defined() ? fmt::format("{} {}", Name(t.dtype()), t.shape()) : "none";
}

// What the outputs are, and the gradients of the inputs.
inline std::vector<std::string> KindsOn(Device device, const Row& row) {
  Variables leaves, outputs;
  std::vector<Tensor> seeds;
  std::vector<std::string> kinds;
  for (const Tensor& input : row.inputs)
    leaves.emplace_back(input.To(device), IsFloating(input.dtype()));
  for (const Variable& y : row.call(leaves)) {
    EXPECT_EQ(ToString(y.data().device()), ToString(device));
    kinds.push_back(KindOf(y.data()));
    if (!y.requires_grad()) continue;
    outputs.push_back(y);
    seeds.push_back(Full(y.shape(), 1, y.dtype(), device));
  }
  if (!outputs.empty()) Backward(outputs, seeds);
  for (const Variable& leaf : leaves) kinds.push_back(KindOf(leaf.grad()));
  return kinds;
}

// Outputs and gradients have the shapes and dtypes that the CPU gives.
inline void ExpectKindsOfTheCpu(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op);
    const std::vector<std::string> wanted = KindsOn({}, row);
    NamesOfOps names;
    EXPECT_EQ(KindsOn(kMetaDevice, row), wanted);
    EXPECT_TRUE(row.op.empty() || names.seen.contains(row.op));
  }
}

// A model's parameters are real where only its shapes are asked for.
inline void ExpectOneInputOnMetaIsEnough(const std::vector<Row>& rows) {
  for (const Row& row : rows)
    for (size_t meta = 0; meta < row.inputs.size(); ++meta) {
      SCOPED_TRACE(row.op);
      Variables inputs;
      for (size_t i = 0; i < row.inputs.size(); ++i)
        inputs.emplace_back(i == meta ? row.inputs[i].To(kMetaDevice) : row.inputs[i]);
      for (const Variable& y : row.call(inputs)) EXPECT_EQ(y.data().device(), kMetaDevice);
    }
}

}  // namespace torus::ops
