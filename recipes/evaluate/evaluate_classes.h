// What a classifier makes of a dataset of images or sentences.
#pragma once

#include <string>

#include "data/datasets/dataset.h"
#include "data/loading/batch.h"
#include "data/metrics/metrics.h"
#include "models/nn/sequential.h"

namespace torus::recipes {

struct ClassEvaluation {
  data::ConfusionMatrix counts;
  double loss = 0;  // mean cross entropy
};

// Examples 0 to size - 1 in order, `batch` at a time, in evaluation mode; batches do not change the
// result beyond rounding. BadInput naming the dataset for a model of more or fewer outputs than it
// has classes, and for an example without one.
ClassEvaluation EvaluateClasses(nn::Sequential& model, const data::MakeBatch& batches,
                                const data::Dataset& dataset, int64_t batch);

// Normalization by name: "dataset" (its own), "imagenet" (mean .485 .456 .406, deviation .229 .224
// .225), "half" (x / 127.5 - 1). BadInput, listing them, for another.
data::Normalization NormalizationByName(const std::string& name, const data::Dataset& dataset);

// The rows [begin, end) of an epoch as one micro-batch.
data::MicroBatch Rows(int64_t begin, int64_t end);

}  // namespace torus::recipes
