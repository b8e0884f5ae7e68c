// Checks gradients: compares the gradient rules with central differences in f64, with the defaults
// of PyTorch's gradcheck (eps 1e-6, atol 1e-5, rtol 1e-3). All tests use it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "autograd/variable.h"

namespace torus::testing {

struct GradientCheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
  uint64_t seed = 1;  // of the random output gradients
};

using CheckedFunction = std::function<std::vector<Variable>(const std::vector<Variable>&)>;

// Compares d sum_i <v_i, outputs_i> / d input, for random v, with central differences, for every
// f64 input that requires a gradient. Also checks that the bits are the same in a second backward
// over a new graph, if only one input's gradient is requested, and if the leaves are deferred. With
// a GPU (on_gpu.h), also computes outputs and gradients there, which must agree with the CPU's up
// to rounding. `op` must be recorded in the graph. Failures name input and element.
void CheckGradients(const std::string& op, const CheckedFunction& function,
                    const std::vector<Variable>& inputs, const GradientCheckOptions& options = {});

// f64 leaf of standard normal values (or uniform in [low, high)), from a fixed seed; deterministic.
Variable RandomLeaf(const Shape& shape, uint64_t seed = 0);
Variable UniformLeaf(const Shape& shape, double low, double high, uint64_t seed = 0);

// The values of RandomLeaf as a non-contiguous view: the last two dimensions are stored transposed.
Variable TransposedLeaf(const Shape& shape, uint64_t seed = 0);

}  // namespace torus::testing

// A test that checks the gradient of the op recorded as "op": GRADIENT_CASE(mul, Broadcast) {
// Check(function, inputs); } tests/ops/gradient_table_test requires one for every op that ops/
// records.
#define GRADIENT_CASE(op_name, variant)                                             \
  struct GradientCase_##op_name##_##variant : ::testing::Test {                     \
    static void Check(const ::torus::testing::CheckedFunction& function,            \
                      const std::vector<::torus::Variable>& inputs,                 \
                      const ::torus::testing::GradientCheckOptions& options = {}) { \
      ::torus::testing::CheckGradients(#op_name, function, inputs, options);        \
    }                                                                               \
  };                                                                                \
  TEST_F(GradientCase_##op_name##_##variant, HasRightGradient)
