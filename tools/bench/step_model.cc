#include "tools/bench/step_model.h"

#include <fmt/ranges.h>

#include <functional>
#include <utility>

#include "models/gpt2/gpt2.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "models/resnet/resnet.h"
#include "models/roberta/roberta.h"
#include "models/vgg/vgg.h"
#include "parallel/optim/adam.h"
#include "parallel/optim/sgd.h"
#include "runtime/error.h"

namespace torus::bench {
namespace {

StepModel OfImages(std::shared_ptr<nn::Sequential> model) {
  auto optimizer =
      std::make_unique<parallel::Sgd>(model->Parameters(), parallel::SgdOptions{.momentum = 0.9});
  return {std::move(model), std::move(optimizer), 0.01, false, 1000};
}

StepModel OfText(std::shared_ptr<nn::Sequential> model, int64_t classes) {
  auto optimizer = std::make_unique<parallel::Adam>(model->Parameters(), parallel::AdamWOptions());
  return {std::move(model), std::move(optimizer), 1e-4, true, classes};
}

StepModel RobertaStep() {
  RobertaOptions options = RobertaBase();
  options.hidden_dropout_prob = options.attention_probs_dropout_prob = 0;
  return OfText(Roberta(options), options.num_labels);
}

StepModel Gpt2Step() {
  Gpt2Options options;
  options.resid_pdrop = options.embd_pdrop = options.attn_pdrop = 0;
  options.head_in_loss = true;
  return OfText(Gpt2(options), options.vocab_size);
}

using Maker = std::function<StepModel()>;

const std::vector<std::pair<std::string, Maker>>& Makers() {
  static const std::vector<std::pair<std::string, Maker>> makers = {
      {"mobilenet_v2", [] { return OfImages(MobileNetV2({.dropout = 0})); }},
      {"vgg13", [] { return OfImages(Vgg({.dropout = 0})); }},
      {"resnet18", [] { return OfImages(ResNet()); }},
      {"roberta", RobertaStep},
      {"gpt2", Gpt2Step}};
  return makers;
}

}  // namespace

std::vector<std::string> StepModelNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Makers()) names.push_back(name);
  return names;
}

StepModel MakeStepModel(const std::string& name) {
  for (const auto& [known, make] : Makers())
    if (known == name) return make();
  Throw<BadInput>("bench", "the model must be one of {}, got \"{}\"",
                  fmt::join(StepModelNames(), ", "), name);
}

}  // namespace torus::bench
