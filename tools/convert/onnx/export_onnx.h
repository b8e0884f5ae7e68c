// Exports a run's model, or other weights, as a file of ONNX (onnx.ai), for other runtimes.
#pragma once

#include <cstdint>
#include <string>

#include "models/checkpoint/load_weights.h"

namespace torus::onnx {

struct ExportOptions {
  // A run's folder, or weights: a checkpoint, a Hugging Face folder, a file.
  std::string input;
  std::string output;      // the file to write
  bool overwrite = false;  // replaces an output file that is there already
  // As recipes::ConvertOptions; a run and a Hugging Face folder say themselves what they are.
  std::string model, part;
  int64_t classes = 0;     // 0: as many as the weights have
  int64_t image_size = 0;  // 0: as the run's; without one, the model's as published
};

struct Exported {
  TakenWeights taken;     // from the weights, and what was left there
  std::string signature;  // "opset 17: images (batch, 3, height, width) to logits (batch, 10)"
};

// Writes the model of families.h, in evaluation, with all weights in f32. Throws BadInput if the
// model has no ONNX form or its weights do not fit, and the errors of the readers; nothing is
// written then.
Exported ExportOnnx(const ExportOptions& options);

}  // namespace torus::onnx
