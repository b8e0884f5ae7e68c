// Evaluate: evaluates trained weights on a dataset, in one call. tools/evaluate is its command
// line.
//
//   const EvaluateResult result = recipes::Evaluate(
//       {.model = "resnet18", .init = "runs/a/checkpoint", .data = "cifar10"});
//   data::Accuracy(result.classes->counts);
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"
#include "models/checkpoint/load_weights.h"
#include "recipes/evaluate/evaluate_classes.h"
#include "recipes/evaluate/evaluate_text.h"

namespace torus {
struct ModelDescriptor;
}

namespace torus::recipes {

// Which weights and which data; the flags of tools/evaluate.
struct EvaluateOptions {
  // As Settings::model; empty for a Hugging Face folder, which names it, and for a run's.
  std::string model = {};
  std::string init = {};       // the weights: a file, such a folder, a run or its checkpoint
  std::string init_part = {};  // which of a file's weights; empty: those that fit best (ChoosePart)
  std::string data = {};       // one of DataNames; empty: those of the run (WithRunSettings)
  std::string data_dir = {};   // empty, for images: the dataset's usual place
  std::string split = "test";  // "train" or "test" (of GLUE dev.tsv); of a text also "all"
  std::string normalize = "dataset";           // of images: NormalizationByName
  int64_t image_size = 0;                      // side to which images are resized; 0: their own
  std::string tokenizer = {}, vocab_dir = {};  // of texts, as in TextModelFlags
  int64_t length = 0;             // tokens per row of text; 0: as in training, if the model
                                  // says so (trained_length.h), else as many as it takes
  int64_t batch = 0;              // rows per forward; 0: 250 images, 16 texts
  std::string precision = "f32";  // or "bf16"; of products, convolutions and attention
  bool emulate = false;           // emulates bf16: rounds to it and computes in f32
  std::string device = "cpu";     // or "cuda": the first GPU
  // As Settings::models.
  const std::vector<ModelDescriptor>* models = nullptr;
  // A requested stop, from any thread, ends the call before its next batch.
  std::stop_token stop_token = {};
};

// Figures of images and sentences, or of a text, and what was left out.
struct EvaluateResult {
  // For images and sentences.
  std::optional<ClassEvaluation> classes;
  std::vector<std::string> class_names;    // in the order of their numbers
  std::vector<std::string> files;          // of each example, if it is an image file; else empty
  std::vector<data::LeftOut> left_out;     // examples that could not be read and do not count
  std::vector<data::LeftOut> passed_over;  // what is no example (Dataset::passed_over)
  std::string truncated;                   // TruncatedLine
  TakenWeights taken;                      // from `init`, and what was left there
  // For a long text.
  std::optional<TextEvaluation> text;
  std::string warning;  // about the figures, for the user; empty: none
};

// Throws BadInput, naming options by their flags, if something is missing or the model does not
// take such data, and the errors of the readers; Interrupted if it is stopped. Any number of calls
// may go on at the same time, each on a thread of its own.
EvaluateResult Evaluate(const EvaluateOptions& options);

}  // namespace torus::recipes
