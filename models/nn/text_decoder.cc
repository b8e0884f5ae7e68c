#include "models/nn/text_decoder.h"

#include "autograd/node.h"
#include "runtime/error.h"

namespace torus::nn {

TextDecoder::TextDecoder(std::shared_ptr<Sequential> model, int64_t positions, int64_t batch)
    : model_(std::move(model)), positions_(positions), batch_(batch) {
  const auto& layers = model_->layers();
  size_t last = 0;  // of the cached layers
  for (size_t i = 0; i < layers.size(); ++i)
    if (auto* const cached = dynamic_cast<CachedLayer*>(layers[i].module.get())) {
      cached_.push_back(cached);
      last = i;
    }
  // Such a model would run on the last token alone.
  Require(!cached_.empty(), "decoder",
          "requires blocks with attention that keep keys and values (nn::CachedLayer), got a model "
          "of {} layers without any",
          layers.size());
  Require(last == cached_.size(), "decoder",
          "requires a layer that embeds tokens and, next to each other, blocks with attention, got "
          "{} of these, the last in place {}",
          cached_.size(), last);
  Reset();
}

void TextDecoder::Reset() {
  length_ = 0;
  caches_.clear();
  for (const CachedLayer* layer : cached_)
    caches_.emplace_back(batch_, positions_, layer->cache_width());
}

Tensor TextDecoder::Extend(const Tensor& ids) {
  Require(ids.rank() == 2 && ids.dim(0) == batch_ && ids.dim(1) >= 1, "decoder",
          "requires token ids ({}, T), got {}", batch_, ids.shape());
  Require(length_ + ids.dim(1) <= positions_, "decoder",
          "requires a text that ends within {} positions, got {} tokens behind {}", positions_,
          ids.dim(1), length_);
  const NoGrad no_grad;
  const StepContext evaluation{.training = false};
  const auto& layers = model_->layers();
  Module& first = *layers.front().module;
  auto* const positioned = dynamic_cast<PositionedLayer*>(&first);
  Variable x = positioned == nullptr ? first.Forward(Variable(ids), evaluation)
                                     : positioned->Extend(Variable(ids), length_);
  for (size_t i = 0; i < caches_.size(); ++i) x = cached_[i]->Extend(x, caches_[i]);
  length_ += ids.dim(1);
  // Norm and head run only on the last token.
  x = Variable(x.data().Narrow(1, ids.dim(1) - 1, 1).Contiguous());
  for (size_t i = caches_.size() + 1; i < layers.size(); ++i)
    x = layers[i].module->Forward(x, evaluation);
  return x.data().Reshape({batch_, x.dim(-1)});
}

}  // namespace torus::nn
