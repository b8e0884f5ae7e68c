#include "ops/batch_norm/batch_norm.h"

#include <limits>
#include <memory>
#include <vector>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/batch_norm/batch_norm_kernel.h"
#include "ops/batch_norm/channel_sums.h"
#include "runtime/parallel_for.h"

namespace torus::ops {

cpu::Clamp ClampOf(Activation activation) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (activation == Activation::kNone) return {};
  return {0, activation == Activation::kRelu ? infinity : 6};
}

namespace {

void CheckChannels(std::string_view name, const Tensor& tensor, const Variable& x) {
  const int64_t channels = x.dim(-1);
  Require(!tensor.defined() || (tensor.shape() == Shape{channels} && tensor.dtype() == x.dtype()),
          "batch_norm", "{} must be {} ({}), got {}", name, Name(x.dtype()), channels, tensor);
}

Tensor DataOf(const Variable& variable) {
  return variable.defined() ? variable.data().Contiguous() : Tensor();
}

template <class T>
const T* PointerOf(const Tensor& tensor) {
  return tensor.defined() ? tensor.data<T>() : nullptr;
}

// Inputs checked and made contiguous.
struct Inputs {
  Inputs(const Variable& x_in, const Variable& weight_in, const Variable& bias_in,
         const Variable& residual_in) {
    Require(x_in.rank() >= 2, "batch_norm", "needs (N, ..., C), got {}", x_in.data());
    x = DataOf(x_in), weight = DataOf(weight_in), bias = DataOf(bias_in),
    residual = DataOf(residual_in);
    CheckChannels("weight", weight, x_in);
    CheckChannels("bias", bias, x_in);
    Require(!residual.defined() || (residual.shape() == x.shape() && residual.dtype() == x.dtype()),
            "batch_norm", "residual must be like x, {}, got {}", x, residual);
    channels = x.dim(-1);
    rows = channels == 0 ? 0 : x.numel() / channels;
  }
  Tensor x, weight, bias, residual;
  int64_t rows, channels;
};

// Calls body(part, begin, end) for the fixed parts of the rows, on the team.
template <class Body>
void OverParts(int64_t rows, const Body& body) {
  const int64_t parts = cpu::PartsOf(rows);
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) body(p, rows * p / parts, rows * (p + 1) / parts);
  });
}

template <class T>
cpu::ChannelMoments MomentsOf(const Inputs& in) {
  std::vector<cpu::ChannelMoments> parts(cpu::PartsOf(in.rows), cpu::ChannelMoments(in.channels));
  OverParts(in.rows, [&](int64_t part, int64_t begin, int64_t end) {
    parts[part].Add(in.x.data<T>() + begin * in.channels, end - begin);
  });
  for (size_t p = 1; p < parts.size(); ++p) parts[0].Merge(parts[p]);
  return std::move(parts[0]);
}

template <class T>
Tensor NormalizeAll(const Inputs& in, const cpu::Affine<T>& affine, const cpu::Clamp& clamp) {
  Tensor y(in.x.shape(), in.x.dtype());
  const T *x = in.x.data<T>(), *residual = PointerOf<T>(in.residual);
  T* out = y.mutable_data<T>();
  OverParts(in.rows, [&](int64_t, int64_t begin, int64_t end) {
    const int64_t at = begin * in.channels;
    cpu::Normalize(x + at, end - begin, in.channels, affine, clamp,
                   residual == nullptr ? nullptr : residual + at, out + at);
  });
  return y;
}

// What the rule keeps. `count` is 0 where the statistics are constants.
template <class T>
struct Kept {
  SavedActivation x, y;  // y only where the mask cannot be recomputed from x
  std::shared_ptr<const cpu::Folded<T>> folded;
  cpu::Clamp clamp;
  int64_t rows, channels, count;
  bool has_residual;
};

// Sums of the whole gradient; writes the masked one into `masked` if defined.
template <class T>
cpu::GradientSums SumsOf(const Kept<T>& kept, const Tensor& dy, Tensor& masked) {
  std::vector<cpu::GradientSums> parts(cpu::PartsOf(kept.rows), cpu::GradientSums(kept.channels));
  const Tensor input = kept.x.get(), output = kept.y.get();
  const T *x = input.data<T>(), *y = output.defined() ? output.data<T>() : nullptr;
  T* out = masked.defined() ? masked.mutable_data<T>() : nullptr;
  OverParts(kept.rows, [&](int64_t part, int64_t begin, int64_t end) {
    const int64_t at = begin * kept.channels;
    parts[part].Add(dy.data<T>() + at, x + at, y == nullptr ? nullptr : y + at, end - begin,
                    kept.folded->affine(), kept.clamp, out == nullptr ? nullptr : out + at);
  });
  for (size_t p = 1; p < parts.size(); ++p) parts[0].Merge(parts[p]);
  return std::move(parts[0]);
}

template <class T>
Tensor InputGradient(const Kept<T>& kept, const Tensor& dy, const cpu::BackwardAffine<T>& affine,
                     const cpu::Clamp& clamp) {
  Tensor dx(dy.shape(), dy.dtype());
  T* out = dx.mutable_data<T>();
  const Tensor input = kept.x.get();
  const T* x = input.data<T>();
  OverParts(kept.rows, [&](int64_t, int64_t begin, int64_t end) {
    const int64_t at = begin * kept.channels;
    cpu::BackwardInput(dy.data<T>() + at, x + at, end - begin, kept.channels, affine, clamp,
                       out + at);
  });
  return dx;
}

template <class T>
Gradients Rule(const Kept<T>& kept, const GradContext& g) {
  const Tensor& dy = g.grad();
  // With a residual the masked gradient is an output of its own (or dy itself where nothing
  // clamps).
  const bool writes_mask = kept.has_residual && !kept.clamp.identity();
  Tensor masked = writes_mask ? Tensor(dy.shape(), dy.dtype()) : Tensor();
  const cpu::GradientSums sums = SumsOf(kept, dy, masked);
  Gradients out(4);
  const Shape channels{kept.channels};
  if (g.wants(1)) out[1] = Tensor(channels, dy.dtype());
  if (g.wants(2)) out[2] = Tensor(channels, dy.dtype());
  const auto folded = cpu::FoldBackward<T>(*kept.folded, sums, kept.count,
                                           g.wants(1) ? out[1].mutable_data<T>() : nullptr,
                                           g.wants(2) ? out[2].mutable_data<T>() : nullptr);
  if (g.wants(0))
    out[0] = InputGradient(kept, writes_mask ? masked : dy, folded.affine(*kept.folded),
                           writes_mask ? cpu::Clamp{} : kept.clamp);
  if (g.wants(3)) out[3] = writes_mask ? masked : dy;
  return out;
}

template <class T>
Variable NormalizeRecorded(const Inputs& in, const std::vector<Variable>& inputs,
                           cpu::Folded<T> folded, Activation activation, int64_t count) {
  const cpu::Clamp clamp = ClampOf(activation);
  const Tensor y = NormalizeAll<T>(in, folded.affine(), clamp);
  if (!NeedsGrad(inputs))
    return Record("batch_norm", y, {}, [](const GradContext&) { return Gradients(); });
  const bool needs_y = in.residual.defined() && !clamp.identity();
  Kept<T> kept{SavedActivation(in.x),
               needs_y ? SavedActivation(y) : SavedActivation(),
               std::make_shared<const cpu::Folded<T>>(std::move(folded)),
               clamp,
               in.rows,
               in.channels,
               count,
               in.residual.defined()};
  return Record("batch_norm", y, inputs, [kept](const GradContext& g) { return Rule(kept, g); });
}

template <class T>
Tensor FromDoubles(const std::vector<double>& values) {
  return FromVector(std::vector<T>(values.begin(), values.end()),
                    {static_cast<int64_t>(values.size())});
}

}  // namespace

BatchNormResult BatchNormTrain(const Variable& x, const Variable& weight, const Variable& bias,
                               double eps, Activation activation, const Variable& residual) {
  const Inputs in(x, weight, bias, residual);
  Require(in.rows > 1 || in.channels == 0, "batch_norm",
          "training needs more than one value a channel, got {}", in.x);
  return VisitCompute("batch_norm", x.dtype(), [&]<class T>(ComputeType<T>) {
    const cpu::ChannelMoments moments = MomentsOf<T>(in);
    std::vector<double> variance(in.channels);
    for (int64_t c = 0; c < in.channels; ++c) variance[c] = moments.variance(c);
    auto folded =
        cpu::Fold<T>(moments.mean(), variance, eps, PointerOf<T>(in.weight), PointerOf<T>(in.bias));
    Variable y = NormalizeRecorded<T>(in, {x, weight, bias, residual}, std::move(folded),
                                      activation, in.rows);
    return BatchNormResult{y, FromDoubles<T>(moments.mean()), FromDoubles<T>(variance), in.rows};
  });
}

Variable BatchNormEval(const Variable& x, const Tensor& mean, const Tensor& var,
                       const Variable& weight, const Variable& bias, double eps,
                       Activation activation, const Variable& residual) {
  const Inputs in(x, weight, bias, residual);
  Require(mean.defined() && var.defined(), "batch_norm", "evaluation needs running statistics");
  CheckChannels("running_mean", mean, x);
  CheckChannels("running_var", var, x);
  return VisitCompute("batch_norm", x.dtype(), [&]<class T>(ComputeType<T>) {
    auto folded =
        cpu::Fold<T>(ToVector<double>(mean.To(DType::kF64)), ToVector<double>(var.To(DType::kF64)),
                     eps, PointerOf<T>(in.weight), PointerOf<T>(in.bias));
    return NormalizeRecorded<T>(in, {x, weight, bias, residual}, std::move(folded), activation, 0);
  });
}

void UpdateRunningStatistics(const Tensor& mean, const Tensor& var, int64_t count, double momentum,
                             Tensor& running_mean, Tensor& running_var) {
  Require(running_mean.shape() == mean.shape() && running_var.shape() == var.shape() &&
              running_mean.is_contiguous() && running_var.is_contiguous(),
          "batch_norm", "running statistics must be contiguous {}, got {} and {}", mean.shape(),
          running_mean, running_var);
  const double unbias =
      count > 1 ? static_cast<double>(count) / static_cast<double>(count - 1) : 1.0;
  VisitCompute("batch_norm", running_mean.dtype(), [&]<class T>(ComputeType<T>) {
    const auto m = ToVector<double>(mean.To(DType::kF64)),
               v = ToVector<double>(var.To(DType::kF64));
    T *rm = running_mean.mutable_data<T>(), *rv = running_var.mutable_data<T>();
    for (size_t c = 0; c < m.size(); ++c) {
      rm[c] = static_cast<T>((1 - momentum) * rm[c] + momentum * m[c]);
      rv[c] = static_cast<T>((1 - momentum) * rv[c] + momentum * v[c] * unbias);
    }
  });
}

}  // namespace torus::ops
