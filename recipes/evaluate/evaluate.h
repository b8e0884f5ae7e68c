// Evaluate: what trained weights make of a data set, as one call. tools/evaluate is a command line
// around it.
//
//   const EvaluateResult result = recipes::Evaluate(
//       {.model = "resnet18", .init = "runs/a/checkpoint/weights.safetensors", .data = "cifar10"});
//   data::Accuracy(result.classes->counts);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"
#include "models/descriptor.h"
#include "recipes/evaluate/evaluate_classes.h"
#include "recipes/evaluate/evaluate_text.h"

namespace torus::recipes {

struct EvaluateOptions {
  std::string model;  // as Settings::model; empty for a folder of Hugging Face's, which says it
  std::string init;   // the weights: a file, or such a folder
  std::string data = "cifar10";       // one of DataNames
  std::string data_dir;               // of images empty: the data set's usual place
  std::string split = "test";         // "train" or "test" (of GLUE dev.tsv); of a text also "all"
  std::string normalize = "dataset";  // of images: NormalizationByName
  int64_t image_size = 0;             // side that images are brought to; 0: their own
  std::string tokenizer, vocab_dir;   // of texts, as TextModelFlags has them
  int64_t length = 0;                 // tokens of a row of text; 0: as many as the model takes
  int64_t batch = 0;                  // rows at a time; 0: 250 images, 16 texts
  std::string precision = "f32";      // of products, convolutions and attention: or "bf16"
  bool emulate = false;               // bf16 by rounding to it and computing in f32
  std::string device = "cpu";         // or "cuda": the first GPU
  // As Settings::models.
  const std::vector<ModelDescriptor>* models = nullptr;
};

struct EvaluateResult {
  // Of images and of sentences.
  std::optional<ClassEvaluation> classes;
  std::vector<std::string> class_names;
  std::vector<data::LeftOut> left_out;  // examples that could not be read
  std::string truncated;                // TruncatedLine
  // Of a long text.
  std::optional<TextEvaluation> text;
};

// BadInput, naming options by their flags, for what is missing and for a model that does not take
// such data; also the errors of the readers.
EvaluateResult Evaluate(const EvaluateOptions& options);

}  // namespace torus::recipes
