// Processes rows in chunks and holds the logits of one chunk at a time. Never waits for the stream:
// the number of targets that count stays on the GPU.
#include <algorithm>
#include <cmath>

#include "ops/cuda/gemm.h"
#include "ops/loss/class_rows.h"
#include "ops/loss/kernels.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/kernels.h"
#include "runtime/element_cast.h"
//
#include "ops/cuda/softmax_rows.h"
#include "runtime/cuda/column_sums.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "linear_cross_entropy";

// 512 MB of f32, and half of that for gradients of 16 bits. Each chunk reads the weight twice, and
// reads and writes its gradient, so few are better.
constexpr int64_t kMostLogits = 1 << 27;

// The elements from one row of logits to the next. Rows start at multiples of 16 bytes in every
// type, without which cuBLASLt's fast kernels do not run; long ones, of which one more line costs
// little, at those of whole lines of memory.
int64_t RowStrideOf(int64_t classes) {
  const int64_t unit = classes < 512 ? 8 : 64;
  return std::max<int64_t>(1, (classes + unit - 1) / unit) * unit;
}

// Elements of rows that are `gap` longer than what is read of them.
template <class T, class In>
struct LoadSpaced {
  const In* values;
  int64_t gap;
  __device__ T operator()(int64_t at, int64_t row) const {
    return ElementCast<T, In>()(values[at + row * gap]);
  }
};

// The loss of each row of logits and, if wanted, the gradients of the logits, which may overwrite
// the logits. A row is read twice, 16 bytes at a time.
template <class In, class T>
struct LogitRow {
  ops::ClassRows rows;  // from the chunk's first on
  int64_t stride;       // between rows of logits and of gradients; of RowStrideOf
  const T* divisor;     // of the gradients; null: 1
  const T* logits;
  T* loss;
  In* gradients;  // null: not wanted
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    constexpr int kPack = kPackOf<T>;
    const int64_t n = rows.classes, target = rows.target[row];
    const T* x = logits + row * stride;
    const SumExp<T> all = SumExpOfRow<kThreads>(n, x);
    const T top = all.largest, sum = std::log(all.sum);
    const bool counts = rows.Counts(row);
    // Done by the thread that may overwrite the target's logit.
    if (threadIdx.x == (counts ? target / kPack % kThreads : 0))
      loss[row] = counts ? sum - (x[target] - top) : T(0);
    if (gradients == nullptr) return;
    const T scale = divisor == nullptr ? T(1) : T(1) / *divisor, factor = scale / all.sum;
    ForEachPack<kThreads, kPack>(n, [&](int64_t first, int count) {
      const Pack<T, kPack> values = LoadPack<kPack>(x + first, count);
      Pack<In, kPack> out{};
      TORUS_UNROLL
      for (int k = 0; k < kPack; ++k) {
        const T one = first + k == target ? scale : T(0);
        const T gradient = std::fma(std::exp(values.at[k] - top), factor, -one);
        out.at[k] = ElementCast<In, T>()(counts ? gradient : T(0));
      }
      StorePack(out, gradients + row * stride + first, count);
    });
  }
};

// The sum of the losses, or, with a divisor, their mean.
template <class T>
struct StoreLoss {
  const T* divisor;  // may be null
  T* out;
  template <class Sum>
  __device__ void operator()(int64_t, Sum sum) const {
    const T rounded = static_cast<T>(sum);
    *out = divisor == nullptr ? rounded : rounded / *divisor;
  }
};

template <class T>
struct DivideBy {
  T* values;
  const T* divisor;
  __device__ void operator()(int64_t i) const { values[i] /= *divisor; }
};

// Processes the chunks. Products take In, which is T or a 16-bit type; everything else is T.
// Gradients of a mean are divided by the count where they are made; but f16 has too small a range
// for them, so the gradients of the sum, at most 1, are rounded, and the division comes last.
template <class In, class T>
class Chunks {
 public:
  Chunks(const ops::LinearClassProblem& p, ops::LinearClassGradients& gradients,
         StreamHandle stream)
      : p_(p),
        count_(p.hidden.dim(0)),
        width_(p.hidden.dim(1)),
        classes_(p.weight.dim(0)),
        stride_(RowStrideOf(classes_)),
        size_(ops::ChunkRows(p, stride_, kMostLogits)),
        device_(p.hidden.device()),
        stream_(stream),
        logits_({std::min(size_, count_), stride_}, kDTypeOf<T>, device_),
        rounded_({kRounds && !gradients.none() ? std::min(size_, count_) : 0, stride_},
                 kDTypeOf<In>, device_),
        losses_({count_}, kDTypeOf<T>, device_),
        gradients_(gradients) {
    // 0 for a mean over no targets; the loss is then NaN.
    if (!p.mean) return;
    divisor_ = Tensor({}, kDTypeOf<T>, device_);
    CountTargets(p.targets, divisor_);
  }

  void Run(Tensor& loss) {
    for (int64_t row = 0; row < count_; row += size_) Chunk(row, std::min(size_, count_ - row));
    StoreColumnSums<T>(kOp, 1, count_, 1, LoadFrom<T>{Elements<T>(losses_)},
                       StoreLoss<T>{ElementsOrNull<T>(divisor_), MutableElements<T>(loss)}, device_,
                       stream_);
    if constexpr (kDividesLast)
      for (Tensor* gradient : {&gradients_.hidden, &gradients_.weight, &gradients_.bias})
        if (gradient->defined()) Divide(*gradient);
  }

 private:
  static constexpr bool kRounds = !std::is_same_v<In, T>;
  static constexpr bool kDividesLast = std::is_same_v<In, Float16>;

  void Divide(Tensor& sum) {
    if (!p_.mean) return;
    ForEach(kOp, sum.numel(), stream_, DivideBy<T>{MutableElements<T>(sum), Elements<T>(divisor_)});
  }

  void Chunk(int64_t row, int64_t rows) {
    const In* hidden = Elements<In>(p_.hidden) + row * width_;
    const In* weight = Elements<In>(p_.weight);
    T* const logits = MutableElements<T>(logits_);
    GemmCall<In, T> product{rows,
                            classes_,
                            width_,
                            {hidden, Stride(width_)},
                            {weight, Stride(width_), true},
                            {logits, stride_}};
    product.bias = ElementsOrNull<T>(p_.bias);
    Gemm(product, device_, stream_);
    const ops::ClassRows targets{Elements<int64_t>(p_.targets.numbers) + row,
                                 p_.targets.ignore_index, classes_};
    ForEachRow(kOp, rows, classes_, stream_,
               LogitRow<In, T>{targets, stride_,
                               p_.mean && !kDividesLast ? Elements<T>(divisor_) : nullptr, logits,
                               MutableElements<T>(losses_) + row,
                               gradients_.none() ? nullptr : LogitGradients()});
    if (gradients_.hidden.defined()) HiddenGradient(row, rows, weight);
    if (gradients_.weight.defined()) WeightGradient(row, rows, hidden);
    if (gradients_.bias.defined()) BiasGradient(row, rows);
  }

  // Overwrites the logits, or writes to separate memory if the gradients are rounded.
  In* LogitGradients() {
    if constexpr (kRounds)
      return MutableElements<In>(rounded_);
    else
      return MutableElements<T>(logits_);
  }

  void HiddenGradient(int64_t row, int64_t rows, const In* weight) {
    T* const out = MutableElements<T>(gradients_.hidden) + row * width_;
    Gemm(GemmCall<In, T>{rows,
                         width_,
                         classes_,
                         {LogitGradients(), stride_},
                         {weight, Stride(width_)},
                         {out, Stride(width_)}},
         device_, stream_);
  }

  void WeightGradient(int64_t row, int64_t rows, const In* hidden) {
    GemmCall<In, T> product{classes_,
                            width_,
                            rows,
                            {LogitGradients(), stride_, true},
                            {hidden, Stride(width_)},
                            {MutableElements<T>(gradients_.weight), Stride(width_)}};
    product.beta = T(row > 0 ? 1 : 0);
    Gemm(product, device_, stream_);
  }

  void BiasGradient(int64_t row, int64_t rows) {
    T* const out = MutableElements<T>(gradients_.bias);
    const LoadSpaced<T, In> load{LogitGradients(), stride_ - classes_};
    if (row == 0) return SumColumns(kOp, 1, rows, classes_, load, 1, out, device_, stream_);
    Tensor sums({classes_}, kDTypeOf<T>, device_);
    SumColumns(kOp, 1, rows, classes_, load, 1, MutableElements<T>(sums), device_, stream_);
    AddInPlace(out, sums.raw(), kDTypeOf<T>, classes_, stream_);
  }

  static int64_t Stride(int64_t columns) { return std::max<int64_t>(1, columns); }

  const ops::LinearClassProblem& p_;
  int64_t count_, width_, classes_;
  int64_t stride_;  // of logits and their gradients
  int64_t size_;    // rows of a chunk
  Device device_;
  StreamHandle stream_;
  Tensor logits_, rounded_, losses_, divisor_;  // rounded_: the gradients of the logits
  ops::LinearClassGradients& gradients_;
};

}  // namespace

void LinearCrossEntropy(const ops::LinearClassProblem& problem, Tensor& loss,
                        ops::LinearClassGradients& gradients) {
  const StreamHandle stream = CurrentStream(loss.device());
  VisitProduct(kOp, problem.hidden.dtype(), loss.dtype(),
               [&]<class In, class T>(ProductTypes<In, T>) {
                 if constexpr (std::is_same_v<T, SumOf<In>>)
                   Chunks<In, T>(problem, gradients, stream).Run(loss);
                 else
                   Throw<BadInput>(kOp, "needs a loss of f32, got {}", loss);
               });
}

}  // namespace torus::cuda
