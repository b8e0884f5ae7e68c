#include "models/vit/patches.h"

#include <cmath>

#include "ops/elementwise/elementwise.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus {

VitPatches::VitPatches(const VitOptions& o, uint64_t dropout_layer)
    : image_size_(o.image_size), width_(o.hidden_dim), dropout_(o.dropout, dropout_layer) {
  const int64_t side = o.image_size / o.patch_size;
  const double inputs = 3.0 * static_cast<double>(o.patch_size * o.patch_size);
  projection_ = AddChild("conv_proj", std::make_shared<nn::Conv2d>(nn::Conv2dOptions{
                                          .in = 3,
                                          .out = width_,
                                          .kernel = o.patch_size,
                                          .stride = o.patch_size,
                                          .bias = true,
                                          .weight_init = nn::Normal(0, std::sqrt(1 / inputs)),
                                          .bias_init = nn::Constant(0),
                                          .dtype = o.dtype}));
  class_token_ = AddParameter("class_token", {1, 1, width_}, o.dtype, nn::Constant(0));
  positions_ = AddParameter("encoder.pos_embedding", {1, side * side + 1, width_}, o.dtype,
                            nn::Normal(0, 0.02));
}

Variable VitPatches::Forward(const Variable& images, const StepContext& ctx) {
  Require(images.rank() == 4 && images.dim(1) == image_size_ && images.dim(2) == image_size_, "vit",
          "needs images (N, {0}, {0}, 3), got {1}", image_size_, images.shape());
  const int64_t batch = images.dim(0);
  const Variable patches =
      ops::Reshape(projection_->Forward(images, ctx), {batch, positions_.dim(1) - 1, width_});
  const Variable tokens = ops::Cat({ops::Expand(class_token_, {batch, 1, width_}), patches}, 1);
  return dropout_.Forward(ops::Add(tokens, positions_), ctx);
}

}  // namespace torus
