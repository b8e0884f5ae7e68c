// The fused chain's state: what its forward leaves and its backward reads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/batch_norm/cpu/batch_norm.h"
#include "ops/batch_norm/cpu/channel_sums.h"
#include "ops/convolution/conv_geometry.h"
#include "runtime/tensor.h"

namespace torus::cpu {

using ops::ConvGeometry;

enum class ChainKind { kPointwise, kDepthwise, kDense };

// Mean and centred Gram matrix (k, k) of an input's channels over all pixels.
struct InputMoments {
  std::vector<double> mean, gram;
};

// One convolution and its batch norm, f32.
struct ChainLayer {
  ConvGeometry g;
  ChainKind kind;
  Clamp clamp;
  double eps;
  // Made by the forward:
  Tensor z;  // the convolution's output; undefined where it is made again when needed (expand.h),
  InputMoments input;  // and then these are there instead
  Folded<float> folded;
  std::vector<double> mean, variance;
  int64_t rows() const { return g.output_rows(); }
};

// The activations that a layer reads: a tensor as it is, or a layer's z that is normalised on the
// way in.
class ChainSource {
 public:
  explicit ChainSource(const float* plain, int64_t channels) : data_(plain), channels_(channels) {}
  explicit ChainSource(const ChainLayer& layer)
      : data_(layer.z.data<float>()), channels_(layer.g.o), layer_(&layer) {}
  // Rows (pixels) [begin, begin + rows): where they are, or made in `scratch`.
  const float* Rows(int64_t begin, int64_t rows, float* scratch) const {
    const float* from = data_ + begin * channels_;
    if (layer_ == nullptr) return from;
    Normalize(from, rows, channels_, layer_->folded.affine(), layer_->clamp, nullptr, scratch);
    return scratch;
  }
  // The same, always written to `to`.
  void Copy(int64_t begin, int64_t rows, float* to) const;

 private:
  const float* data_;
  int64_t channels_;
  const ChainLayer* layer_ = nullptr;
};

// The gradient by a layer's z, made on the way in from g, the gradient by its activation.
struct GradientSource {
  const ChainLayer& layer;
  const float* g;
  Clamp clamp;  // identity where g is masked already
  FoldedBackward<float> folded;
  void Rows(int64_t begin, int64_t rows, float* to) const {
    const int64_t at = begin * layer.g.o;
    BackwardInput(g + at, layer.z.data<float>() + at, rows, layer.g.o, folded.affine(layer.folded),
                  clamp, to);
  }
};

// Adds neighbouring rows of one tensor to moments, in blocks as soon as enough are there.
class RowMoments {
 public:
  explicit RowMoments(ChannelMoments& moments) : moments_(moments) {}
  ~RowMoments() { Flush(); }
  void Add(const float* row, int64_t pixels) {
    if (pending_ == 0) first_ = row;
    pending_ += pixels;
    if (pending_ >= 128) Flush();
  }

 private:
  void Flush() {
    if (pending_ > 0) moments_.Add(first_, pending_);
    pending_ = 0;
  }
  ChannelMoments& moments_;
  int64_t pending_ = 0;
  const float* first_ = nullptr;
};

// Pixels of a block so that its rows of `channels` floats in all stay in a core's second-level
// cache.
inline int64_t BlockRows(int64_t channels) {
  return std::clamp<int64_t>(65536 / channels / 8 * 8, 32, 256);
}

// Runs the chain: fills z, folded, mean and variance of every layer, and y, the last one's
// activation (+ residual, which may be null). `weights` has one contiguous weight a layer,
// `norm_weights` and `norm_biases` too (null: ones, zeros). `expand_bytes`: Expands of expand.h.
void ChainForward(std::vector<ChainLayer>& layers, const float* x,
                  const std::vector<const float*>& weights,
                  const std::vector<const float*>& norm_weights,
                  const std::vector<const float*>& norm_biases, const float* residual,
                  int64_t expand_bytes, float* y);

// Where the gradients go; a null one is not wanted.
struct ChainGradients {
  float* x = nullptr;
  std::vector<float*> weights, norm_weights, norm_biases;
};

// All gradients in one sweep from the last layer to the first. With `residual`, dy is added to the
// gradient of x.
void ChainBackward(const std::vector<ChainLayer>& layers, const float* x,
                   const std::vector<const float*>& weights, const float* dy, bool residual,
                   const ChainGradients& out);

}  // namespace torus::cpu
