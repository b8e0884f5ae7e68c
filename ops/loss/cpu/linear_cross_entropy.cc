// Processes rows in chunks and holds the logits of one chunk at a time.
#include <algorithm>
#include <cmath>

#include "ops/cpu/bias.h"
#include "ops/cpu/multiply.h"
#include "ops/cpu/softmax_rows.h"
#include "ops/loss/kernels.h"
#include "runtime/kernels.h"

namespace torus::cpu {
namespace {

// 128 MB of f32, which is enough rows for a fast product.
constexpr int64_t kMostLogits = 1 << 25;

double CountOf(const ops::ClassTargets& targets) {
  int64_t count = 0;
  CountTargets(targets, count);
  return static_cast<double>(count);
}

constexpr auto kNo = Transpose::kNo, kYes = Transpose::kYes;

// Processes the chunks. Products take In, which is T or bf16; everything else is T.
template <class In, class T>
class Chunks {
 public:
  Chunks(const ops::LinearClassProblem& p, ops::LinearClassGradients& gradients)
      : p_(p),
        count_(p.hidden.dim(0)),
        width_(p.hidden.dim(1)),
        classes_(p.weight.dim(0)),
        size_(ops::ChunkRows(p, p.weight.dim(0), kMostLogits)),
        target_(p.targets.numbers.data<int64_t>()),
        // 0 for a mean over no targets; the loss is then NaN.
        divisor_(p.mean ? CountOf(p.targets) : 1),
        logits_({std::min(size_, count_), classes_}, kDTypeOf<T>),
        rounded_(
            {std::is_same_v<In, T> || gradients.none() ? 0 : std::min(size_, count_), classes_},
            kDTypeOf<In>),
        rows_({3, size_}, kDTypeOf<T>),
        gradients_(gradients) {}

  double Run() {
    double loss = 0;
    for (int64_t row = 0; row < count_; row += size_) loss += Chunk(row);
    return loss / divisor_;
  }

 private:
  bool Counts(int64_t row) const { return target_[row] != p_.targets.ignore_index; }

  double Chunk(int64_t row) {
    const int64_t rows = std::min(size_, count_ - row), n = classes_;
    const In* hidden = p_.hidden.template data<In>() + row * width_;
    T *logits = logits_.template mutable_data<T>(), *largest = rows_.template mutable_data<T>();
    T *log_sum = largest + size_, *scale = log_sum + size_;
    cpu::Multiply(kNo, kYes, rows, n, width_, hidden, width_, p_.weight.template data<In>(), width_,
                  false, logits, n);
    if (p_.bias.defined()) AddBias(p_.bias.template data<T>(), rows, n, logits);
    LogSumExp(rows, n, logits, largest, log_sum);
    double loss = 0;
    for (int64_t r = 0; r < rows; ++r)
      if (Counts(row + r)) loss += log_sum[r] - (logits[r * n + target_[row + r]] - largest[r]);
    if (gradients_.none()) return loss;
    for (int64_t r = 0; r < rows; ++r)
      scale[r] = Counts(row + r) ? static_cast<T>(1 / divisor_) : T(0);
    const In* dlogits = LogitGradients(row, rows);
    Multiply(row, rows, hidden, dlogits);
    if (gradients_.bias.defined()) SumBias(row, rows, dlogits);
    return loss;
  }

  // Overwrites the logits, or writes to separate memory if the gradients are rounded.
  const In* LogitGradients(int64_t row, int64_t rows) {
    T *logits = logits_.template mutable_data<T>(), *largest = rows_.template mutable_data<T>();
    const T *log_sum = largest + size_, *scale = log_sum + size_;
    In* const gradients = std::is_same_v<In, T> ? logits_.template mutable_data<In>()
                                                : rounded_.template mutable_data<In>();
    const int64_t n = classes_;
    ScaledSoftmax(rows, n, logits, largest, log_sum, scale, gradients);
    for (int64_t r = 0; r < rows; ++r) {
      if (!Counts(row + r)) continue;
      const int64_t at = r * n + target_[row + r];
      if constexpr (std::is_same_v<In, T>)
        gradients[at] -= scale[r];
      else  // p - 1, without the rounding of p
        gradients[at] = In(scale[r] * std::expm1(logits[at] - largest[r] - log_sum[r]));
    }
    return gradients;
  }

  void Multiply(int64_t row, int64_t rows, const In* hidden, const In* dlogits) {
    const int64_t n = classes_, width = width_;
    if (gradients_.hidden.defined())
      cpu::Multiply(kNo, kNo, rows, width, n, dlogits, n, p_.weight.template data<In>(), width,
                    false, gradients_.hidden.template mutable_data<T>() + row * width, width);
    if (gradients_.weight.defined())
      cpu::Multiply(kYes, kNo, n, width, rows, dlogits, n, hidden, width, row > 0,
                    gradients_.weight.template mutable_data<T>(), width);
  }

  void SumBias(int64_t row, int64_t rows, const In* dlogits) {
    if (row == 0)
      return SumRows(dlogits, rows, classes_, gradients_.bias.template mutable_data<T>());
    Tensor sums({classes_}, kDTypeOf<T>);
    SumRows(dlogits, rows, classes_, sums.template mutable_data<T>());
    AddInPlace(gradients_.bias, sums);
  }

  const ops::LinearClassProblem& p_;
  int64_t count_, width_, classes_, size_;
  const int64_t* target_;
  double divisor_;
  Tensor logits_, rounded_;  // rounded_: the gradients of the logits, where In is not T
  Tensor rows_;              // largest, log_sum and scale of each row
  ops::LinearClassGradients& gradients_;
};

}  // namespace

void LinearCrossEntropy(const ops::LinearClassProblem& problem, Tensor& loss,
                        ops::LinearClassGradients& gradients) {
  if (problem.hidden.dtype() == DType::kBF16) {
    const double low = Chunks<BFloat16, float>(problem, gradients).Run();
    *loss.mutable_data<float>() = static_cast<float>(low);
    return;
  }
  VisitCompute("linear_cross_entropy", loss.dtype(), [&]<class T>(ComputeType<T>) {
    *loss.mutable_data<T>() = static_cast<T>(Chunks<T, T>(problem, gradients).Run());
  });
}

}  // namespace torus::cpu
