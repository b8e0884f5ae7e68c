#include <algorithm>

#include "ops/cuda/gemm.h"
#include "ops/loss/class_rows.h"
#include "ops/loss/cuda/class_targets.h"
#include "ops/loss/cuda/linear_cross_entropy.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/kernels.h"
//
#include "ops/cuda/softmax_rows.h"
#include "runtime/cuda/column_sums.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "linear_cross_entropy";

// The loss of each row of logits, and, written over them, their gradients.
template <class T>
struct LogitRow {
  ops::ClassRows rows;  // from the chunk's first on
  const T* divisor;     // of the sum of all losses; null: 1
  bool with_gradients;
  T *logits, *loss;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const int64_t n = rows.classes, target = rows.target[row];
    T* x = logits + row * n;
    const T top = LargestOfRow<kThreads>(n, x);
    const T sum = std::log(SumOfRow<kThreads, T>(n, ExpLess<T>{x, top}));
    const bool counts = rows.Counts(row);
    // By the thread that may write over the target's logit.
    if (threadIdx.x == (counts ? target % kThreads : 0))
      loss[row] = counts ? sum - (x[target] - top) : T(0);
    if (!with_gradients) return;
    const T scale = divisor == nullptr ? T(1) : T(1) / *divisor;
    const SoftmaxOf<T> softmax{x, top, sum};
    for (int64_t c = threadIdx.x; c < n; c += kThreads)
      x[c] = !counts ? T(0) : scale * softmax(c) - (c == target ? scale : T(0));
  }
};

template <class T>
struct DivideBy {
  T* value;
  const T* divisor;
  __device__ void operator()(int64_t) const { *value /= *divisor; }
};

// Works through the chunks.
template <class T>
class Chunks {
 public:
  Chunks(const ops::LinearClassProblem& p, ops::LinearClassGradients& gradients,
         StreamHandle stream)
      : p_(p),
        count_(p.hidden.dim(0)),
        width_(p.hidden.dim(1)),
        classes_(p.weight.dim(0)),
        size_(ops::ChunkRows(p)),
        device_(p.hidden.device()),
        stream_(stream),
        logits_({std::min(size_, count_), classes_}, kDTypeOf<T>, device_),
        losses_({count_}, kDTypeOf<T>, device_),
        gradients_(gradients) {
    // Of a mean over no target at all: 0, and the loss is NaN.
    if (!p.mean) return;
    divisor_ = Tensor({}, kDTypeOf<T>, device_);
    CountTargets(p.targets, divisor_, stream);
  }

  void Run(Tensor& loss) {
    for (int64_t row = 0; row < count_; row += size_) Chunk(row, std::min(size_, count_ - row));
    T* const out = MutableElements<T>(loss);
    SumColumns(kOp, 1, count_, 1, LoadFrom<T>{Elements<T>(losses_)}, 1, out, device_, stream_);
    if (p_.mean) ForEach(kOp, 1, stream_, DivideBy<T>{out, Elements<T>(divisor_)});
  }

 private:
  void Chunk(int64_t row, int64_t rows) {
    const T* hidden = Elements<T>(p_.hidden) + row * width_;
    const T* weight = Elements<T>(p_.weight);
    T* const logits = MutableElements<T>(logits_);
    GemmCall<T> product{rows,
                        classes_,
                        width_,
                        {hidden, Stride(width_)},
                        {weight, Stride(width_), true},
                        {logits, Stride(classes_)}};
    product.bias = ElementsOrNull<T>(p_.bias);
    Gemm(product, device_, stream_);
    const ops::ClassRows targets{Elements<int64_t>(p_.targets.numbers) + row,
                                 p_.targets.ignore_index, classes_};
    ForEachRow(kOp, rows, classes_, stream_,
               LogitRow<T>{targets, p_.mean ? Elements<T>(divisor_) : nullptr, !gradients_.none(),
                           logits, MutableElements<T>(losses_) + row});
    if (gradients_.hidden.defined()) HiddenGradient(row, rows, weight);
    if (gradients_.weight.defined()) WeightGradient(row, rows, hidden);
    if (gradients_.bias.defined()) BiasGradient(row, rows);
  }

  void HiddenGradient(int64_t row, int64_t rows, const T* weight) {
    T* const out = MutableElements<T>(gradients_.hidden) + row * width_;
    Gemm(GemmCall<T>{rows,
                     width_,
                     classes_,
                     {Elements<T>(logits_), Stride(classes_)},
                     {weight, Stride(width_)},
                     {out, Stride(width_)}},
         device_, stream_);
  }

  void WeightGradient(int64_t row, int64_t rows, const T* hidden) {
    GemmCall<T> product{classes_,
                        width_,
                        rows,
                        {Elements<T>(logits_), Stride(classes_), true},
                        {hidden, Stride(width_)},
                        {MutableElements<T>(gradients_.weight), Stride(width_)}};
    product.beta = T(row > 0 ? 1 : 0);
    Gemm(product, device_, stream_);
  }

  void BiasGradient(int64_t row, int64_t rows) {
    T* const out = MutableElements<T>(gradients_.bias);
    const LoadFrom<T> load{Elements<T>(logits_)};
    if (row == 0) return SumColumns(kOp, 1, rows, classes_, load, 1, out, device_, stream_);
    Tensor sums({classes_}, kDTypeOf<T>, device_);
    SumColumns(kOp, 1, rows, classes_, load, 1, MutableElements<T>(sums), device_, stream_);
    AddInPlace(out, sums.raw(), kDTypeOf<T>, classes_, stream_);
  }

  static int64_t Stride(int64_t columns) { return std::max<int64_t>(1, columns); }

  const ops::LinearClassProblem& p_;
  int64_t count_, width_, classes_, size_;
  Device device_;
  StreamHandle stream_;
  Tensor logits_, losses_, divisor_;
  ops::LinearClassGradients& gradients_;
};

}  // namespace

void LinearCrossEntropy(const ops::LinearClassProblem& problem, Tensor& loss,
                        ops::LinearClassGradients& gradients, StreamHandle stream) {
  VisitCompute(kOp, problem.hidden.dtype(),
               [&]<class T>(ComputeType<T>) { Chunks<T>(problem, gradients, stream).Run(loss); });
}

}  // namespace torus::cuda
