#include "ops/softmax/softmax.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/softmax/softmax_kernel.h"

namespace torus::ops {
namespace {

// Rows along the last dimension, contiguous: `dim` swapped to the end.
Tensor RowsOf(const Tensor& t, int dim) { return t.Transpose(dim, -1).Contiguous(); }

int64_t RowLength(const Tensor& rows) { return rows.rank() == 0 ? 1 : rows.dim(-1); }

int64_t RowCount(const Tensor& rows) {
  return rows.numel() == 0 ? 0 : rows.numel() / RowLength(rows);
}

// A kernel over rows of one input, shape kept.
template <class Kernel>
Tensor MapRows(std::string_view op, const Tensor& x, const Kernel& kernel) {
  Tensor y(x.shape(), x.dtype(), x.device());
  VisitFloat(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernel(RowCount(x), RowLength(x), x.data<T>(), y.mutable_data<T>());
  });
  return y;
}

// A rule that needs the result's rows `y`, and the gradient's.
template <class Kernel>
GradRule RowRule(const Tensor& y, int dim, const Kernel& kernel) {
  return [y = SavedActivation(y), dim, kernel](const GradContext& g) {
    const Tensor dy = RowsOf(g.grad(), dim);
    Tensor dx =
        MapRows("gradient", y.get(), [&](int64_t rows, int64_t n, const auto* out, auto* to) {
          using T = std::remove_pointer_t<decltype(to)>;
          kernel(rows, n, out, dy.data<T>(), to);
        });
    return Gradients{dx.Transpose(dim, -1)};
  };
}

}  // namespace

Variable Softmax(const Variable& input, int64_t dim) {
  const int d = NormalizeDim("softmax", dim, input.rank());
  const Tensor y =
      MapRows("softmax", RowsOf(input.data(), d), [](auto... args) { cpu::Softmax(args...); });
  return Record("softmax", y.Transpose(d, -1), {input},
                RowRule(y, d, [](auto... args) { cpu::SoftmaxBackward(args...); }));
}

Variable LogSoftmax(const Variable& input, int64_t dim) {
  const int d = NormalizeDim("log_softmax", dim, input.rank());
  const Tensor y = MapRows("log_softmax", RowsOf(input.data(), d),
                           [](auto... args) { cpu::LogSoftmax(args...); });
  return Record("log_softmax", y.Transpose(d, -1), {input},
                RowRule(y, d, [](auto... args) { cpu::LogSoftmaxBackward(args...); }));
}

}  // namespace torus::ops
