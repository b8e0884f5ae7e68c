// What an image classifier makes of a dataset.
#pragma once

#include <string>

#include "data/dataset.h"
#include "data/metrics.h"
#include "models/nn/sequential.h"

namespace torus::tools {

struct ImageEvaluation {
  data::ConfusionMatrix counts;
  double loss = 0;  // mean cross entropy
};

// Normalization by name: "dataset" (its own), "imagenet" (mean .485 .456 .406, deviation .229 .224
// .225), "half" (x / 127.5 - 1). BadInput, listing them, for another.
data::Normalization NormalizationByName(const std::string& name, const data::Dataset& dataset);

// All samples in order, `batch` at a time, in evaluation mode; batches do not change the result
// beyond rounding.
ImageEvaluation EvaluateImages(nn::Sequential& model, const data::Dataset& dataset,
                               const data::Normalization& normalization, int64_t batch);

}  // namespace torus::tools
