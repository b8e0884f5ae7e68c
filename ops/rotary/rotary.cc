#include "ops/rotary/rotary.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/precision/in_precision.h"
#include "ops/rotary/kernels.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "rotary_embedding";

Tensor TableOf(const Variable& x, const RotaryOptions& o) {
  const DType dtype = x.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  Tensor table({x.dim(-3), x.dim(-1)}, dtype, x.data().device());
  kernels::RotaryTable(o.frequencies, o.first, table);
  return table;
}

Tensor Turned(const Tensor& x, const Tensor& table, bool back) {
  Tensor y(x.shape(), x.dtype(), x.device());
  kernels::Rotate(x.Contiguous(), table, back, y);
  return y;
}

Variable RotaryOf(const Variable& x, const RotaryOptions& options) {
  Require(IsFloating(x.dtype()), kOp, "needs floating values, got {}", x.data());
  const Tensor table = TableOf(x, options);
  return Record("rotary_embedding", Turned(x.data(), table, false), {x},
                [table = Saved(table)](const GradContext& g) {
                  return Gradients{Turned(g.grad(), table.get(), true)};
                });
}

}  // namespace

Variable RotaryEmbedding(const Variable& x, const RotaryOptions& options) {
  RequireDefined(kOp, x);
  Require(x.rank() >= 3 && x.dim(-1) % 2 == 0, kOp,
          "needs (..., tokens, heads, width) of an even width, got {}", x.shape());
  Require(options.first >= 0, kOp, "positions must not be negative, got {}", options.first);
  if (StayLowOnGpu(x)) return RotaryOf(x, options);
  return InPrecision(
      kOp, [&](const Variable& wide) { return RotaryOf(wide, options); }, x);
}

}  // namespace torus::ops
