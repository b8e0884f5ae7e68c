// Evaluates a classifier on a dataset of images or sentences.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"
#include "data/loading/batch.h"
#include "data/metrics/metrics.h"
#include "models/nn/sequential.h"
#include "runtime/error.h"

namespace torus::recipes {

// What the model says of one example.
struct Prediction {
  int64_t example = 0;
  int64_t target = 0, predicted = 0;  // classes
  double probability = 0;             // of the predicted class, by the softmax of the outputs
};

// How well a classifier does on a dataset.
struct ClassEvaluation {
  data::ConfusionMatrix counts;              // of the examples that count
  double loss = 0;                           // mean cross entropy
  std::vector<Prediction> predictions = {};  // of the examples that count, in their order
};

// Evaluates examples 0 to size - 1 in order, `batch` at a time, in evaluation mode. The batch size
// does not change the result beyond rounding. Throws BadInput, naming the dataset, if the model has
// more or fewer outputs than the dataset has classes, if no example counts (those of class
// data::kNoClass do not), or if a loss is not finite: what such outputs name as a class is no
// answer. `outputs` names the model's output for each class; empty: in their order. Throws
// Interrupted before the next batch once `stop` is requested.
ClassEvaluation EvaluateClasses(nn::Sequential& model, const data::MakeBatch& batches,
                                const data::Dataset& dataset, int64_t batch,
                                const std::vector<int64_t>& outputs = {},
                                const std::stop_token& stop = {});

// Thrown by what has no result before its end, if the caller has asked for the end by a stop token.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// Throws Interrupted, naming example `at`, if `stop` is requested.
void ThrowIfStopped(const std::stop_token& stop, int64_t at);

// Throws BadInput tagged `where` unless `loss`, that of examples [begin, end), is finite.
void RequireScore(double loss, const std::string& where, int64_t begin, int64_t end);

// Normalization by name: "dataset" (the dataset's own), "imagenet" (mean .485 .456 .406, deviation
// .229 .224 .225), "half" (x / 127.5 - 1). Throws BadInput, listing these, for any other name.
data::Normalization NormalizationByName(const std::string& name, const data::Dataset& dataset);

// The rows [begin, end) of an epoch as one micro-batch.
data::MicroBatch Rows(int64_t begin, int64_t end);

}  // namespace torus::recipes
