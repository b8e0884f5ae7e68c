#include "tools/evaluate/evaluate_images.h"

#include <algorithm>

#include "autograd/node.h"
#include "data/normalization.h"
#include "ops/loss/cross_entropy.h"
#include "runtime/error.h"

namespace torus::tools {
namespace {

struct Images {
  Tensor pixels, labels;
};

Images Read(const data::Dataset& dataset, const data::Normalizer& normalizer, int64_t begin,
            int64_t end) {
  const Shape& image = dataset.info().image;
  Images images{Empty({end - begin, image[0], image[1], image[2]}),
                Empty({end - begin}, DType::kI64)};
  float* pixels = images.pixels.mutable_data<float>();
  int64_t* label = images.labels.mutable_data<int64_t>();
  for (int64_t i = begin; i < end; ++i, pixels += Numel(image)) {
    const data::Sample sample = dataset.Get(i);
    normalizer.Apply(sample.inputs[0], pixels);
    *label++ = *sample.target.data<int64_t>();
  }
  return images;
}

}  // namespace

data::Normalization NormalizationByName(const std::string& name, const data::Dataset& dataset) {
  if (name == "dataset") return dataset.info().normalization;
  if (name == "half") return {.mean = {0.5, 0.5, 0.5}, .std = {0.5, 0.5, 0.5}};
  Require(name == "imagenet", "evaluate", "--normalize must be dataset, imagenet or half, got {}",
          name);
  return {.mean = {0.485f, 0.456f, 0.406f}, .std = {0.229f, 0.224f, 0.225f}};
}

ImageEvaluation EvaluateImages(nn::Sequential& model, const data::Dataset& dataset,
                               const data::Normalization& normalization, int64_t batch) {
  Require(dataset.info().image.rank() == 3, "evaluate", "{} has no images of one size",
          dataset.info().name);
  const NoGrad no_grad;
  const data::Normalizer normalizer(normalization);
  ImageEvaluation result{
      data::ConfusionMatrix(static_cast<int64_t>(dataset.info().classes.size()))};
  for (int64_t begin = 0; begin < dataset.size(); begin += batch) {
    const Images images = Read(dataset, normalizer, begin, std::min(dataset.size(), begin + batch));
    StepContext ctx{.training = false};
    for (int64_t i = 0; i < images.labels.numel(); ++i) ctx.samples.push_back(i);
    const Variable logits = model.Forward(Variable(images.pixels), ctx);
    const Variable loss =
        ops::CrossEntropy(logits, Variable(images.labels), {.reduction = ops::LossReduction::kSum});
    result.loss += loss.data().Item();
    const Tensor rows = logits.data().Contiguous();
    const float* row = rows.data<float>();
    for (int64_t i = 0; i < rows.dim(0); ++i, row += rows.dim(1))
      result.counts.Add(images.labels.data<int64_t>()[i],
                        std::max_element(row, row + rows.dim(1)) - row);
  }
  result.loss /= static_cast<double>(dataset.size());
  return result;
}

}  // namespace torus::tools
