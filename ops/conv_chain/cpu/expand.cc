#include "ops/conv_chain/cpu/expand.h"

#include <algorithm>
#include <cstring>

#include "ops/conv_chain/cpu/expand_vector.h"
#include "ops/convolution/cpu/depthwise.h"
#include "ops/cpu/gemm.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kMostNarrow = 32;

// Rows minus a vector.
void Center(const float* x, int64_t rows, int64_t channels, const float* mean, float* out) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < channels; ++c) out[r * channels + c] = x[r * channels + c] - mean[c];
}

std::vector<float> ToFloats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// Sums over rows of u and u u^T, with u = x - shift.
struct ShiftedSums {
  explicit ShiftedSums(int64_t k) : sum(k), product(k * k) {}
  void Add(const float* x, int64_t rows, const float* shift);
  std::vector<double> sum, product;
};

void ShiftedSums::Add(const float* x, int64_t rows, const float* shift) {
  const int64_t k = std::ssize(sum), block = 256;
  std::vector<float> u(block * k), uu(k * k), total(k);
  for (int64_t begin = 0; begin < rows; begin += block) {
    const int64_t count = std::min(block, rows - begin);
    Center(x + begin * k, count, k, shift, u.data());
    Gemm(Transpose::kYes, Transpose::kNo, k, k, count, 1.0f, u.data(), k, u.data(), k, 0.0f,
         uu.data(), k);
    std::fill(total.begin(), total.end(), 0.0f);
    for (int64_t r = 0; r < count; ++r)
      for (int64_t c = 0; c < k; ++c) total[c] += u[r * k + c];
    for (int64_t i = 0; i < k * k; ++i) product[i] += uu[i];
    for (int64_t c = 0; c < k; ++c) sum[c] += total[c];
  }
}

// The mean of the first rows: close enough to the mean to avoid cancellation.
std::vector<float> ShiftOf(const float* x, int64_t rows, int64_t channels) {
  const int64_t count = std::min<int64_t>(rows, 256);
  std::vector<double> mean(channels);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t c = 0; c < channels; ++c)
      mean[c] += x[r * channels + c] / static_cast<double>(count);
  return ToFloats(mean);
}

// Computes rows of the wide layer's activation: clamp(xc (a W)^T + bias).
class WideRows {
 public:
  WideRows(const ChainLayer& wide, const InputMoments& input, const float* x, const float* weight)
      : wide_(wide), x_(x), mean_(ToFloats(input.mean)), weight_(wide.g.c * wide.g.o) {
    const int64_t k = wide.g.c, channels = wide.g.o;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < k; ++i)
        weight_[i * channels + c] = wide.folded.scale[c] * weight[c * k + i];
  }
  void Center(int64_t pixel, int64_t count, float* centered) const {
    torus::cpu::Center(x_ + pixel * wide_.g.c, count, wide_.g.c, mean_.data(), centered);
  }
  // `scratch` has room for the rows of x.
  void Make(int64_t pixel, int64_t count, float* scratch, float* activation) const {
    if (wide_.z.defined())
      return Normalize(wide_.z.data<float>() + pixel * wide_.g.o, count, wide_.g.o,
                       wide_.folded.affine(), wide_.clamp, nullptr, activation);
    Center(pixel, count, scratch);
    ExpandRows(scratch, count, wide_.g.c, weight_.data(), wide_.g.o, wide_.folded.bias.data(),
               wide_.clamp, activation);
  }

 private:
  const ChainLayer& wide_;
  const float* x_;
  std::vector<float> mean_, weight_;  // the latter (k, channels)
};

}  // namespace

bool Widens(const ConvGeometry& wide, const ConvGeometry& depthwise) {
  return wide.pointwise() && depthwise.depthwise() && wide.c <= kMostNarrow && wide.o >= 3 * wide.c;
}

bool Expands(const ConvGeometry& wide, const ConvGeometry& depthwise, int64_t least_bytes) {
  return Widens(wide, depthwise) &&
         wide.output_rows() * wide.o * static_cast<int64_t>(sizeof(float)) >= least_bytes;
}

InputMoments InputMomentsOf(const float* x, int64_t rows, int64_t channels) {
  const int64_t k = channels, parts = PartsOf(rows);
  const std::vector<float> shift = ShiftOf(x, rows, k);
  std::vector<ShiftedSums> sums(parts, ShiftedSums(k));
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      const int64_t begin = rows * p / parts, end = rows * (p + 1) / parts;
      sums[p].Add(x + begin * k, end - begin, shift.data());
    }
  });
  InputMoments out{std::vector<double>(k), std::vector<double>(k * k)};
  for (const ShiftedSums& part : sums) {
    for (int64_t c = 0; c < k; ++c) out.mean[c] += part.sum[c];
    for (int64_t i = 0; i < k * k; ++i) out.gram[i] += part.product[i];
  }
  const auto n = static_cast<double>(rows);
  for (int64_t a = 0; a < k; ++a)
    for (int64_t b = 0; b < k; ++b) out.gram[a * k + b] -= out.mean[a] * out.mean[b] / n;
  for (int64_t c = 0; c < k; ++c) out.mean[c] = out.mean[c] / n + shift[c];
  return out;
}

void ExpandStatistics(ChainLayer& wide, const float* x, const float* weight) {
  const int64_t k = wide.g.c, rows = wide.rows();
  wide.input = InputMomentsOf(x, rows, k);
  wide.mean.assign(wide.g.o, 0);
  wide.variance.assign(wide.g.o, 0);
  for (int64_t c = 0; c < wide.g.o; ++c) {
    const float* w = weight + c * k;
    double square = 0;
    for (int64_t a = 0; a < k; ++a) {
      wide.mean[c] += w[a] * wide.input.mean[a];
      double row = 0;
      for (int64_t b = 0; b < k; ++b) row += wide.input.gram[a * k + b] * w[b];
      square += w[a] * row;
    }
    wide.variance[c] = std::max(0.0, square / static_cast<double>(rows));
  }
}

void ExpandForward(const ChainLayer& wide, ChainLayer& depthwise, const float* x,
                   const float* wide_weight, const float* depthwise_weight,
                   std::vector<ChannelMoments>& moments) {
  const ConvGeometry& g = depthwise.g;
  const WideRows wide_rows(wide, wide.input, x, wide_weight);
  const std::vector<float> packed = PackDepthwise(g, depthwise_weight);
  float* const out = depthwise.z.mutable_data<float>();
  const auto into = [&](int64_t n, int64_t row) { return out + (n * g.oh + row) * g.ow * g.o; };
  const int64_t rows = g.n * g.oh, parts = std::ssize(moments);
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    std::vector<float> scratch(g.w * wide.g.c);
    const auto fill = [&](int64_t n, int64_t row, float* to) {
      wide_rows.Make((n * g.h + row) * g.w, g.w, scratch.data(), to);
    };
    for (int64_t p = first; p < last; ++p) {
      RowMoments sums(moments[p]);
      DepthwiseForwardRows(g, packed.data(), nullptr, rows * p / parts, rows * (p + 1) / parts,
                           fill, into,
                           [&](int64_t, int64_t, const float* row) { sums.Add(row, g.ow); });
      sums.Finish();
    }
  });
}

namespace {

// The sums of one part of the backward pass.
struct ExpandSums {
  ExpandSums(const ConvGeometry& wide, const ConvGeometry& depthwise)
      : norm(wide.o), depthwise_weight(depthwise), product(wide.o * wide.c) {}
  GradientSums norm;
  DepthwiseWeightSums depthwise_weight;
  std::vector<float> product;  // g^T xc
};

// The backward pass over one part. Buffers rows of g until there are enough for a matrix product.
class ExpandSweep {
 public:
  ExpandSweep(const ExpandBackwardArgs& args, const WideRows& wide_rows, const float* scaled_weight,
              ExpandSums& sums)
      : args_(args),
        wide_rows_(wide_rows),
        g_(args.depthwise.g),
        k_(args.wide.g.c),
        scaled_weight_(scaled_weight),
        sums_(sums),
        batch_(std::max<int64_t>(1, 128 / g_.w)),
        row_sum_(g_.c),
        held_({batch_ * g_.w, g_.c}, DType::kF32),
        centered_({batch_ * g_.w, k_}, DType::kF32) {}

  void Run(const float* packed, int64_t begin, int64_t end) {
    const auto fill_dy = [&](int64_t n, int64_t row, float* to) {
      args_.gradient.Rows((n * g_.oh + row) * g_.ow, g_.ow, to);
    };
    const auto fill_x = [&](int64_t n, int64_t row, float* to) {
      wide_rows_.Make((n * g_.h + row) * g_.w, g_.w, centered_.mutable_data<float>(), to);
    };
    const auto into = [&](int64_t, int64_t) {
      return held_.mutable_data<float>() + pending_ * g_.c;
    };
    const auto out = [&](int64_t n, int64_t row, float*) { Take((n * g_.h + row) * g_.w); };
    DepthwiseMask mask{nullptr, static_cast<float>(args_.wide.clamp.low),
                       static_cast<float>(args_.wide.clamp.high), row_sum_.data()};
    DepthwiseBackwardRows(g_, packed, &sums_.depthwise_weight, begin, end, fill_dy, fill_x, into,
                          out, &mask);
    Flush();
  }

 private:
  void Take(int64_t pixel) {
    for (int64_t c = 0; c < g_.c; ++c) {
      sums_.norm.g[c] += row_sum_[c];
      row_sum_[c] = 0;
    }
    if (pending_ == 0) first_ = pixel;
    pending_ += g_.w;
    if (pending_ + g_.w > batch_ * g_.w) Flush();
  }

  void Flush() {
    if (pending_ == 0) return;
    const float* grad = held_.data<float>();
    if (args_.dx != nullptr) {
      float* const dx = args_.dx + first_ * k_;
      if (args_.add != nullptr)
        std::memcpy(dx, args_.add + first_ * k_, pending_ * k_ * sizeof(float));
      Gemm(Transpose::kNo, Transpose::kNo, pending_, k_, g_.c, 1.0f, grad, g_.c, scaled_weight_, k_,
           args_.add != nullptr ? 1.0f : 0.0f, dx, k_);
    }
    float* const centered = centered_.mutable_data<float>();
    wide_rows_.Center(first_, pending_, centered);
    Gemm(Transpose::kYes, Transpose::kNo, g_.c, k_, pending_, 1.0f, grad, g_.c, centered, k_, 1.0f,
         sums_.product.data(), k_);
    pending_ = 0;
  }

  const ExpandBackwardArgs& args_;
  const WideRows& wide_rows_;
  const ConvGeometry& g_;
  int64_t k_;
  const float* scaled_weight_;
  ExpandSums& sums_;
  int64_t batch_;
  std::vector<float> row_sum_;
  Tensor held_, centered_;
  int64_t pending_ = 0, first_ = 0;
};

// diag(factor) W.
std::vector<float> ScaleRows(const float* weight, int64_t rows, int64_t columns,
                             const std::vector<float>& factor) {
  std::vector<float> out(weight, weight + rows * columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) out[r * columns + c] *= factor[r];
  return out;
}

// The norm's second sum, of g (z - mean), is that of g xc W^T: the products' rows times W's.
void SumByProducts(const ExpandBackwardArgs& args, ExpandSums& sums) {
  const int64_t k = args.wide.g.c;
  for (int64_t i = 0; i < args.wide.g.o * k; ++i)
    sums.norm.gd[i / k] += static_cast<double>(args.wide_weight[i]) * sums.product[i];
}

// dW = a g^T xc + b W S.
void WideWeightGradient(const ExpandBackwardArgs& args, const std::vector<double>& gram,
                        const std::vector<float>& product, const FoldedBackward<float>& folded) {
  const int64_t k = args.wide.g.c, channels = args.wide.g.o;
  const std::vector<float> s = ToFloats(gram);
  std::vector<float> ws(channels * k);
  Gemm(Transpose::kNo, Transpose::kNo, channels, k, k, 1.0f, args.wide_weight, k, s.data(), k, 0.0f,
       ws.data(), k);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = c * k; i < (c + 1) * k; ++i)
      args.wide_dw[i] = args.wide.folded.scale[c] * product[i] + folded.slope[c] * ws[i];
}

// dx += xc (W^T b W) + d W.
void AddInputCorrection(const ExpandBackwardArgs& args, const FoldedBackward<float>& folded,
                        const float* x_mean) {
  const int64_t k = args.wide.g.c, channels = args.wide.g.o;
  const float* const w = args.wide_weight;
  const std::vector<float> sloped = ScaleRows(w, channels, k, folded.slope);
  std::vector<float> matrix(k * k), vector(k);
  Gemm(Transpose::kYes, Transpose::kNo, k, k, channels, 1.0f, w, k, sloped.data(), k, 0.0f,
       matrix.data(), k);
  Gemm(Transpose::kNo, Transpose::kNo, 1, k, channels, 1.0f, folded.offset.data(), channels, w, k,
       0.0f, vector.data(), k);
  // Blocks start at fixed positions, so the bits do not depend on the team size.
  const int64_t all = args.wide.rows(), blocks = (all + 255) / 256;
  ParallelFor(blocks, 1, [&](int64_t first, int64_t last) {
    std::vector<float> centered(256 * k);
    for (int64_t r = first * 256; r < std::min(all, last * 256); r += 256) {
      const int64_t rows = std::min<int64_t>(256, all - r);
      float* const dx = args.dx + r * k;
      Center(args.x + r * k, rows, k, x_mean, centered.data());
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t c = 0; c < k; ++c) dx[i * k + c] += vector[c];
      Gemm(Transpose::kNo, Transpose::kNo, rows, k, k, 1.0f, centered.data(), k, matrix.data(), k,
           1.0f, dx, k);
    }
  });
}

void MergeInto(ExpandSums& to, const ExpandSums& from) {
  to.norm.Merge(from.norm);
  to.depthwise_weight.Merge(from.depthwise_weight);
  for (size_t i = 0; i < to.product.size(); ++i) to.product[i] += from.product[i];
}

}  // namespace

void ExpandBackward(const ExpandBackwardArgs& args) {
  const ConvGeometry& g = args.depthwise.g;
  const ConvGeometry& wide = args.wide.g;
  const std::vector<float> packed = PackDepthwise(g, args.depthwise_weight);
  const std::vector<float> scaled =
      ScaleRows(args.wide_weight, wide.o, wide.c, args.wide.folded.scale);
  const InputMoments input =
      args.wide.z.defined() ? InputMomentsOf(args.x, wide.output_rows(), wide.c) : args.wide.input;
  const std::vector<float> x_mean = ToFloats(input.mean);
  const WideRows wide_rows(args.wide, input, args.x, args.wide_weight);
  const int64_t rows = g.n * g.h, parts = DepthwiseParts(rows, g.w);
  std::vector<ExpandSums> sums(parts, ExpandSums(wide, g));
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p)
      ExpandSweep(args, wide_rows, scaled.data(), sums[p])
          .Run(packed.data(), rows * p / parts, rows * (p + 1) / parts);
  });
  for (int64_t p = 1; p < parts; ++p) MergeInto(sums[0], sums[p]);
  if (args.depthwise_dw != nullptr)
    UnpackDepthwise(g, sums[0].depthwise_weight.total(), args.depthwise_dw);
  SumByProducts(args, sums[0]);
  const auto folded = FoldBackward(args.wide.folded.affine(), args.wide.folded.inv_std.data(),
                                   sums[0].norm, args.wide.rows(), args.norm_dw, args.norm_db);
  if (args.wide_dw != nullptr) WideWeightGradient(args, input.gram, sums[0].product, folded);
  if (args.dx != nullptr) AddInputCorrection(args, folded, x_mean.data());
}

}  // namespace torus::cpu
