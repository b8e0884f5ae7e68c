#include "models/gpt3/gpt3.h"

#include "models/gpt3/layers.h"
#include "runtime/error.h"

namespace torus {

std::shared_ptr<nn::Sequential> Gpt3(const Gpt3Options& o) {
  Require(o.heads >= 1 && o.width >= 1 && o.width % o.heads == 0, "gpt3",
          "heads must divide the width, got {} and {}", o.heads, o.width);
  Require(o.layers >= 0, "gpt3", "layers must be at least 0, got {}", o.layers);
  auto model = std::make_shared<nn::Sequential>();
  model->Add("embedding", std::make_shared<gpt3::Embedding>(o));
  for (int64_t i = 0; i < o.layers; ++i)
    model->Add(fmt::format("transformers.{}", i), std::make_shared<gpt3::Layer>(o));
  if (o.head == Gpt3Head::kClassification)
    model->Add("classifier", std::make_shared<gpt3::ClassificationHead>(o));
  else
    model->Add("classifier", std::make_shared<gpt3::LmHead>(o));
  return model;
}

}  // namespace torus
