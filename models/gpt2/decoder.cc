#include "models/gpt2/decoder.h"

#include "autograd/node.h"
#include "models/gpt2/block.h"
#include "models/gpt2/embeddings.h"
#include "runtime/error.h"

namespace torus {

Gpt2Decoder::Gpt2Decoder(std::shared_ptr<nn::Sequential> model, const Gpt2Options& options,
                         int64_t batch)
    : model_(std::move(model)), options_(options), batch_(batch) {
  const auto& layers = model_->layers();
  bool fits = layers.size() >= 1 && static_cast<int64_t>(layers.size()) == options.n_layer + 3 &&
              dynamic_cast<Gpt2Embeddings*>(layers.front().module.get()) != nullptr;
  for (int64_t i = 1; fits && i <= options.n_layer; ++i)
    fits = dynamic_cast<Gpt2Block*>(layers[static_cast<size_t>(i)].module.get()) != nullptr;
  Require(fits, "gpt2", "the decoder needs a model of embeddings, {} blocks, norm and head",
          options.n_layer);
  Reset();
}

void Gpt2Decoder::Reset() {
  length_ = 0;
  caches_.clear();
  for (int64_t i = 0; i < options_.n_layer; ++i)
    caches_.emplace_back(batch_, options_.n_positions, options_.n_embd);
}

Tensor Gpt2Decoder::Extend(const Tensor& ids) {
  Require(ids.rank() == 2 && ids.dim(0) == batch_ && ids.dim(1) >= 1, "gpt2",
          "needs token ids ({}, T), got {}", batch_, ids.shape());
  const NoGrad no_grad;
  const StepContext evaluation{.training = false};
  const auto& layers = model_->layers();
  Variable x = static_cast<Gpt2Embeddings&>(*layers.front().module).Extend(Variable(ids), length_);
  for (size_t i = 0; i < caches_.size(); ++i)
    x = static_cast<Gpt2Block&>(*layers[i + 1].module).Extend(x, caches_[i]);
  length_ += ids.dim(1);
  // Norm and head run only on the last token.
  x = Variable(x.data().Narrow(1, ids.dim(1) - 1, 1).Contiguous());
  for (size_t i = caches_.size() + 1; i < layers.size(); ++i)
    x = layers[i].module->Forward(x, evaluation);
  return x.data().Reshape({batch_, options_.vocab_size});
}

}  // namespace torus
