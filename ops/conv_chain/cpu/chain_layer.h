// The fused chain's state, which its forward saves for its backward.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/batch_norm/cpu/channel_sums.h"
#include "ops/batch_norm/cpu/norm_rows.h"
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
  // Filled by the forward:
  Tensor z;            // the convolution's output; undefined if recomputed (expand.h),
  InputMoments input;  // this is set instead then
  Folded<float> folded;
  std::vector<double> mean, variance;
  int64_t rows() const { return g.output_rows(); }
};

// The activations that a layer reads: a plain tensor, or a layer's z, normalised as it is read.
class ChainSource {
 public:
  explicit ChainSource(const float* plain, int64_t channels) : data_(plain), channels_(channels) {}
  explicit ChainSource(const ChainLayer& layer)
      : data_(layer.z.data<float>()), channels_(layer.g.o), layer_(&layer) {}
  // Rows (pixels) [begin, begin + rows): in place, or computed into `scratch`.
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

// The gradient with respect to a layer's z, computed as it is read from g, the gradient of the
// layer's activation.
struct GradientSource {
  const ChainLayer& layer;
  const float* g;
  Clamp clamp;  // identity if g is masked already
  FoldedBackward<float> folded;
  void Rows(int64_t begin, int64_t rows, float* to) const {
    const int64_t at = begin * layer.g.o;
    BackwardInput(g + at, layer.z.data<float>() + at, rows, layer.g.o, folded.affine(layer.folded),
                  clamp, to);
  }
};

// Adds consecutive rows of one tensor to moments, a block as soon as 128 pixels are pending. Call
// Finish after the last row: it allocates, which a destructor must not.
class RowMoments {
 public:
  explicit RowMoments(ChannelMoments& moments) : moments_(moments) {}
  void Add(const float* row, int64_t pixels) {
    if (pending_ == 0) first_ = row;
    pending_ += pixels;
    if (pending_ >= 128) Finish();
  }
  void Finish() {
    if (pending_ > 0) moments_.Add(first_, pending_);
    pending_ = 0;
  }

 private:
  ChannelMoments& moments_;
  int64_t pending_ = 0;
  const float* first_ = nullptr;
};

// Pixels per block, so that its rows, with `channels` floats per pixel in all, fit into a core's
// second-level cache.
inline int64_t BlockRows(int64_t channels) {
  return std::clamp<int64_t>(65536 / channels / 8 * 8, 32, 256);
}

// Runs the chain. Fills z, folded, mean and variance of every layer, and y, the activation of the
// last one (+ residual, which may be null). `weights` has one contiguous weight per layer, and so
// have `norm_weights` and `norm_biases` (null: ones, zeros). `expand_bytes` is the limit of Expands
// in expand.h.
void ChainForward(std::vector<ChainLayer>& layers, const float* x,
                  const std::vector<const float*>& weights,
                  const std::vector<const float*>& norm_weights,
                  const std::vector<const float*>& norm_biases, const float* residual,
                  int64_t expand_bytes, float* y);

// Where the gradients go; null ones are not computed.
struct ChainGradients {
  float* x = nullptr;
  std::vector<float*> weights, norm_weights, norm_biases;
};

// Computes all gradients in one pass from the last layer to the first. With `residual`, adds dy to
// the gradient of x.
void ChainBackward(const std::vector<ChainLayer>& layers, const float* x,
                   const std::vector<const float*>& weights, const float* dy, bool residual,
                   const ChainGradients& out);

}  // namespace torus::cpu
