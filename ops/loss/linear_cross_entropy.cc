#include "ops/loss/linear_cross_entropy.h"

#include <algorithm>

#include "autograd/node.h"
#include "ops/cpu/bias.h"
#include "ops/cpu/gemm.h"
#include "ops/cpu/softmax_rows.h"
#include "ops/elementwise/binary.h"
#include "ops/loss/class_targets.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "linear_cross_entropy";
constexpr int64_t kChunk =
    1 << 25;  // logits held at once: 128 MB, still enough rows for GEMM's rate
constexpr auto kNo = cpu::Transpose::kNo, kYes = cpu::Transpose::kYes;

struct Problem {
  Tensor hidden, weight, bias, target;  // (rows, width), (classes, width), (classes), (rows)
  int64_t rows, width, classes, ignore_index;
  bool mean;

  int64_t Target(int64_t row) const { return target.data<int64_t>()[row]; }
  bool Counts(int64_t row) const { return Target(row) != ignore_index; }
  // Of a mean over no target at all: 0, and the loss is NaN.
  double Divisor() const {
    int64_t count = 0;
    for (int64_t r = 0; r < rows; ++r) count += Counts(r) ? 1 : 0;
    return mean ? static_cast<double>(count) : 1;
  }
  // Rows of a chunk; the chunks are even.
  int64_t ChunkRows() const {
    const int64_t most = std::max<int64_t>(1, kChunk / std::max<int64_t>(1, classes));
    const int64_t chunks = std::max<int64_t>(1, (rows + most - 1) / most);
    return std::max<int64_t>(1, (rows + chunks - 1) / chunks);
  }
};

// Of each input, for a loss gradient of 1; undefined where not wanted.
struct InputGradients {
  Tensor hidden, weight, bias;
  bool none() const { return !hidden.defined() && !weight.defined() && !bias.defined(); }
};

Problem Pose(const Variable& hidden, const Variable& weight, const Variable& bias,
             const Variable& target, const LinearCrossEntropyOptions& o) {
  Require(weight.rank() == 2 && hidden.rank() >= 1 && hidden.dim(-1) == weight.dim(1) &&
              hidden.dtype() == weight.dtype(),
          kOp, "needs hidden (..., D) and weight (V, D), got {} and {}", hidden.data(),
          weight.data());
  Require(
      !bias.defined() || (bias.shape() == Shape{weight.dim(0)} && bias.dtype() == weight.dtype()),
      kOp, "needs bias {} ({}), got {}", Name(weight.dtype()), weight.dim(0), bias);
  Require(o.reduction != LossReduction::kNone, kOp, "the loss must be reduced: mean or sum");
  Shape leading = hidden.shape();
  int64_t rows = 1;
  for (int d = 0; d + 1 < hidden.rank(); ++d) rows *= hidden.dim(d);
  leading = Shape(std::span(leading.begin(), static_cast<size_t>(hidden.rank() - 1)));
  Require(target.shape() == leading, kOp, "hidden {} needs class numbers of shape {}, got {}",
          hidden.shape(), leading, target.data());
  const int64_t width = weight.dim(1), classes = weight.dim(0);
  const Tensor numbers =
      ClassNumbers(kOp, {rows, classes}, target.data().Reshape({rows}), o.ignore_index);
  return {hidden.data().Reshape({rows, width}).Contiguous(),
          weight.data().Contiguous(),
          bias.defined() ? bias.data().Contiguous() : Tensor(),
          numbers,
          rows,
          width,
          classes,
          o.ignore_index,
          o.reduction == LossReduction::kMean};
}

// Works through the chunks.
template <class T>
class Chunks {
 public:
  Chunks(const Problem& p, InputGradients& gradients)
      : p_(p),
        size_(p.ChunkRows()),
        divisor_(p.Divisor()),
        logits_({std::min(size_, p.rows), p.classes}, kDTypeOf<T>),
        rows_({3, size_}, kDTypeOf<T>),
        gradients_(gradients) {}

  double Run() {
    double loss = 0;
    for (int64_t row = 0; row < p_.rows; row += size_) loss += Chunk(row);
    return loss / divisor_;
  }

 private:
  double Chunk(int64_t row) {
    const int64_t rows = std::min(size_, p_.rows - row), n = p_.classes;
    const T* hidden = p_.hidden.template data<T>() + row * p_.width;
    T *logits = logits_.template mutable_data<T>(), *largest = rows_.template mutable_data<T>();
    T *log_sum = largest + size_, *scale = log_sum + size_;
    cpu::Gemm(kNo, kYes, rows, n, p_.width, T(1), hidden, p_.width, p_.weight.template data<T>(),
              p_.width, T(0), logits, n);
    if (p_.bias.defined()) cpu::AddBias(p_.bias.template data<T>(), rows, n, logits);
    cpu::LogSumExp(rows, n, logits, largest, log_sum);
    double loss = 0;
    for (int64_t r = 0; r < rows; ++r)
      if (p_.Counts(row + r))
        loss += log_sum[r] - (logits[r * n + p_.Target(row + r)] - largest[r]);
    if (gradients_.none()) return loss;
    for (int64_t r = 0; r < rows; ++r)
      scale[r] = p_.Counts(row + r) ? static_cast<T>(1 / divisor_) : T(0);
    cpu::ScaledSoftmax(rows, n, logits, largest, log_sum, scale, logits);
    for (int64_t r = 0; r < rows; ++r)
      if (p_.Counts(row + r)) logits[r * n + p_.Target(row + r)] -= scale[r];
    Multiply(row, rows, hidden, logits);
    if (gradients_.bias.defined()) SumBias(row, rows, logits);
    return loss;
  }

  void Multiply(int64_t row, int64_t rows, const T* hidden, const T* dlogits) {
    const int64_t n = p_.classes, width = p_.width;
    if (gradients_.hidden.defined())
      cpu::Gemm(kNo, kNo, rows, width, n, T(1), dlogits, n, p_.weight.template data<T>(), width,
                T(0), gradients_.hidden.template mutable_data<T>() + row * width, width);
    if (gradients_.weight.defined())
      cpu::Gemm(kYes, kNo, n, width, rows, T(1), dlogits, n, hidden, width, T(row > 0 ? 1 : 0),
                gradients_.weight.template mutable_data<T>(), width);
  }

  void SumBias(int64_t row, int64_t rows, const T* dlogits) {
    if (row == 0)
      return cpu::SumRows(dlogits, rows, p_.classes, gradients_.bias.template mutable_data<T>());
    Tensor sums({p_.classes}, kDTypeOf<T>);
    cpu::SumRows(dlogits, rows, p_.classes, sums.template mutable_data<T>());
    AddInPlace(gradients_.bias, sums);
  }

  const Problem& p_;
  int64_t size_;
  double divisor_;
  Tensor logits_, rows_;  // rows_: largest, log_sum and scale of each row
  InputGradients& gradients_;
};

// The kept gradient for a loss gradient of 1, times the one that came.
Tensor Scaled(const Saved& gradient, const Tensor& dloss) {
  const double factor = dloss.Item();
  return factor == 1 ? gradient.get() : ApplyBinary(kOp, BinaryOp::kMul, gradient.get(), factor);
}

}  // namespace

Variable LinearCrossEntropy(const Variable& hidden, const Variable& weight, const Variable& bias,
                            const Variable& target, const LinearCrossEntropyOptions& options) {
  const Problem p = Pose(hidden, weight, bias, target, options);
  const bool needed = NeedsGrad({hidden, weight, bias});
  const auto gradient_of = [&](const Variable& v) {
    if (!needed || !v.defined() || !v.requires_grad()) return Tensor();
    // Without rows no chunk writes it.
    return p.rows == 0 ? Zeros(v.shape(), v.dtype()) : Empty(v.shape(), v.dtype());
  };
  InputGradients gradients{gradient_of(hidden), gradient_of(weight), gradient_of(bias)};
  const double loss = VisitCompute(
      kOp, hidden.dtype(), [&]<class T>(ComputeType<T>) { return Chunks<T>(p, gradients).Run(); });
  return Record("linear_cross_entropy", Full({}, loss, hidden.dtype()), {hidden, weight, bias},
                [dhidden = Saved(gradients.hidden), dweight = Saved(gradients.weight),
                 dbias = Saved(gradients.bias)](const GradContext& g) {
                  return Gradients{g.wants(0) ? Scaled(dhidden, g.grad()) : Tensor(),
                                   g.wants(1) ? Scaled(dweight, g.grad()) : Tensor(),
                                   g.wants(2) ? Scaled(dbias, g.grad()) : Tensor()};
                });
}

}  // namespace torus::ops
