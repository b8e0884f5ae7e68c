#include "ops/softmax/softmax.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/precision/in_precision.h"
#include "ops/softmax/kernels.h"

namespace torus::ops {
namespace {

// Rows along the last dimension, contiguous: `dim` swapped to the end.
Tensor RowsOf(const Tensor& t, int dim) { return t.Transpose(dim, -1).Contiguous(); }

using Forward = void (*)(const Tensor& x, Tensor& y);
using Backward = void (*)(const Tensor& y, const Tensor& dy, Tensor& dx);

Variable RecordRows(std::string_view op, const Variable& input, int64_t dim, Forward forward,
                    Backward backward) {
  return InPrecision(
      op,
      [&](const Variable& input) {
        const int d = NormalizeDim(op, dim, input.rank());
        const Tensor x = RowsOf(input.data(), d);
        Tensor y(x.shape(), x.dtype(), x.device());
        forward(x, y);
        return Record(op, y.Transpose(d, -1), {input},
                      [y = SavedActivation(y), d, backward](const GradContext& g) {
                        const Tensor dy = RowsOf(g.grad(), d);
                        Tensor dx(dy.shape(), dy.dtype(), dy.device());
                        backward(y.get(), dy, dx);
                        return Gradients{dx.Transpose(d, -1)};
                      });
      },
      input);
}

}  // namespace

Variable Softmax(const Variable& input, int64_t dim) {
  return RecordRows("softmax", input, dim, kernels::Softmax, kernels::SoftmaxBackward);
}

Variable LogSoftmax(const Variable& input, int64_t dim) {
  return RecordRows("log_softmax", input, dim, kernels::LogSoftmax, kernels::LogSoftmaxBackward);
}

}  // namespace torus::ops
