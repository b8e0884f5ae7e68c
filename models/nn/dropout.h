// Dropout (Srivastava et al. 2014) of elements, channels or samples, scaled during training so that
// evaluation is the identity.
#pragma once

#include <cstdint>
#include <optional>

#include "models/nn/module.h"
#include "ops/dropout/part_dropout.h"

namespace torus::nn {

// Drops each element with `probability` while ctx.training. Which elements are dropped depends only
// on (ctx.seed, ctx.step, `layer`, ctx.samples). A model numbers its dropout layers when it is
// built, so every cut and every split into micro-batches and replicas drops the same elements.
class Dropout : public Module {
 public:
  // Throws BadInput for a probability outside of [0, 1].
  Dropout(double probability, uint64_t layer);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Whether Forward drops anything.
  bool IsActive(const StepContext& ctx) const { return ctx.training && probability_ > 0; }
  // Forward(x, ctx) + residual; on a GPU in one pass.
  Variable ForwardAdd(const Variable& x, const Variable& residual, const StepContext& ctx) const;

 protected:
  std::optional<uint64_t> DropoutNumber() const override {
    return probability_ > 0 ? std::optional(layer_) : std::nullopt;
  }

 private:
  double probability_;
  uint64_t layer_;
};

// Drops whole channels of images (N, H, W, C), as torch.nn.Dropout2d.
class Dropout2d : public Module {
 public:
  // Throws BadInput for a probability outside of [0, 1].
  Dropout2d(double probability, uint64_t layer);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 protected:
  std::optional<uint64_t> DropoutNumber() const override {
    return probability_ > 0 ? std::optional(layer_) : std::nullopt;
  }

 private:
  double probability_;
  uint64_t layer_;
};

// Drops what a residual branch adds, of each sample or of the batch, as
// torchvision.ops.StochasticDepth.
class StochasticDepth : public Module {
 public:
  // Throws BadInput for a probability outside of [0, 1].
  StochasticDepth(double probability, ops::DepthMode mode, uint64_t layer);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 protected:
  std::optional<uint64_t> DropoutNumber() const override {
    return probability_ > 0 ? std::optional(layer_) : std::nullopt;
  }

 private:
  double probability_;
  ops::DepthMode mode_;
  uint64_t layer_;
};

}  // namespace torus::nn
