#include "ops/activation/swiglu.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "autograd/undefined_input.h"
#include "ops/activation/kernels.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

Variable SwigluOf(const Variable& gate, const Variable& up) {
  const Tensor a = gate.data().Contiguous(), b = up.data().Contiguous();
  Tensor y(a.shape(), a.dtype(), CommonDevice("swiglu", a, b));
  kernels::Swiglu(a, b, y);
  return Record("swiglu", y, {gate, up},
                [a = SavedActivation(a), b = SavedActivation(b)](const GradContext& g) {
                  const Tensor& dy = g.grad();
                  Gradients d{Tensor(dy.shape(), dy.dtype(), dy.device()),
                              Tensor(dy.shape(), dy.dtype(), dy.device())};
                  kernels::SwigluBackward(a.get(), b.get(), dy, d[0], d[1]);
                  return d;
                });
}

}  // namespace

Variable Swiglu(const Variable& gate, const Variable& up) {
  RequireDefined("swiglu", gate, up);
  Require(gate.shape() == up.shape(), "swiglu", "shapes differ: {} and {}", gate.shape(),
          up.shape());
  if (StayLowOnGpu(gate, up)) return SwigluOf(gate, up);
  return InPrecision(
      "swiglu",
      [](const Variable& a, const Variable& b) {
        Require(a.dtype() == b.dtype(), "swiglu", "dtypes differ: {} and {}", a.data(), b.data());
        return SwigluOf(a, b);
      },
      gate, up);
}

}  // namespace torus::ops
