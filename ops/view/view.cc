#include "ops/view/view.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/precision/in_precision.h"
#include "ops/sum/sum.h"
#include "ops/view/view_shape.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

Tensor ViewOrCopy(const Tensor& t, const Shape& shape) {
  if (const auto strides = StridesAs(t.shape(), t.strides(), shape))
    return Tensor(t.storage(), shape, *strides, t.offset(), t.dtype());
  return t.Reshape(shape);
}

// The gradient rule of all ops that keep the row-major order.
GradRule ReshapeBack(const Shape& shape) {
  return GradRule::OfView(
      [shape](const GradContext& g) { return Gradients{ViewOrCopy(g.grad(), shape)}; });
}

}  // namespace

Variable Reshape(const Variable& input, const Shape& shape) {
  RequireDefined("reshape", input);
  const Shape resolved = ResolveShape("reshape", shape, input.numel());
  return Record("reshape", ViewOrCopy(input.data(), resolved), {input}, ReshapeBack(input.shape()));
}

Variable Flatten(const Variable& input, int64_t start_dim, int64_t end_dim) {
  RequireDefined("flatten", input);
  return Reshape(input, FlattenedShape(input.shape(), start_dim, end_dim));
}

Variable Transpose(const Variable& input, int64_t dim0, int64_t dim1) {
  RequireDefined("transpose", input);
  return Record("transpose", input.data().Transpose(dim0, dim1), {input},
                GradRule::OfView([dim0, dim1](const GradContext& g) {
                  return Gradients{g.grad().Transpose(dim0, dim1)};
                }));
}

Variable Permute(const Variable& input, const Dims& dims) {
  RequireDefined("permute", input);
  Tensor out = input.data().Permute(dims);
  Dims back = dims;
  for (int i = 0; i < dims.rank(); ++i) back[NormalizeDim("permute", dims[i], dims.rank())] = i;
  return Record("permute", std::move(out), {input}, GradRule::OfView([back](const GradContext& g) {
                  return Gradients{g.grad().Permute(back)};
                }));
}

Variable Movedim(const Variable& input, const Dims& source, const Dims& destination) {
  RequireDefined("movedim", input);
  return Permute(input, MovedOrder(input.rank(), source, destination));
}

Variable Movedim(const Variable& input, int64_t source, int64_t destination) {
  return Movedim(input, Dims{source}, Dims{destination});
}

Variable Narrow(const Variable& input, int64_t dim, int64_t start, int64_t length) {
  RequireDefined("narrow", input);
  Require(input.rank() > 0, "narrow", "needs at least one dimension");
  const int d = NormalizeDim("narrow", dim, input.rank());
  const int64_t from = start < 0 ? start + input.dim(d) : start;
  return Record("narrow", input.data().Narrow(d, from, length), {input},
                GradRule::OfView([shape = input.shape(), d, from, length](const GradContext& g) {
                  Tensor whole = Zeros(shape, g.grad().dtype(), g.grad().device());
                  Tensor window = whole.Narrow(d, from, length);
                  Copy(g.grad(), window);
                  return Gradients{whole};
                }));
}

Variable Expand(const Variable& input, const Shape& size) {
  RequireDefined("expand", input);
  if (input.shape() == size) return input;
  return InPrecision(
      "expand",
      [&](const Variable& input) {
        return Record("expand", input.data().Expand(size), {input},
                      [shape = input.shape()](const GradContext& g) {
                        return Gradients{SumTo(g.grad(), shape)};
                      });
      },
      input);
}

Variable Squeeze(const Variable& input) {
  RequireDefined("squeeze", input);
  Dims all;
  for (int d = 0; d < input.rank(); ++d) all.push_back(d);
  return Squeeze(input, all);
}

Variable Squeeze(const Variable& input, const Dims& dims) {
  RequireDefined("squeeze", input);
  const Dims gone = SqueezedDims(input.shape(), dims);
  Tensor out = input.data();
  for (int i = gone.rank() - 1; i >= 0; --i) out = out.Select(gone[i], 0);
  return Record("squeeze", std::move(out), {input}, ReshapeBack(input.shape()));
}

Variable Unsqueeze(const Variable& input, int64_t dim) {
  RequireDefined("unsqueeze", input);
  const int at = NormalizeDim("unsqueeze", dim, input.rank() + 1);
  const Tensor& in = input.data();
  Shape shape;
  Strides strides;
  for (int d = 0; d <= in.rank(); ++d) {
    if (d == at) {
      shape.push_back(1);
      strides.push_back(1);
    }
    if (d == in.rank()) break;
    shape.push_back(in.shape()[d]);
    strides.push_back(in.strides()[d]);
  }
  return Record("unsqueeze", Tensor(in.storage(), shape, strides, in.offset(), in.dtype()), {input},
                ReshapeBack(in.shape()));
}

}  // namespace torus::ops
