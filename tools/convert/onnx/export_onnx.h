// Exports a run's model, or other weights, as a file of ONNX (onnx.ai), for other runtimes.
#pragma once

#include <cstdint>
#include <string>

#include "recipes/convert/convert.h"

namespace torus::onnx {

struct Exported {
  TakenWeights taken;     // from the weights, and what was left there
  std::string signature;  // "opset 17: images (batch, 3, height, width) to logits (batch, 10)"
};

// Writes the model of families.h, in evaluation, with all weights in f32. Of the options it reads
// the input, which may also be a run's folder, the output, a file, and overwrite, model, part and
// classes; a run and a Hugging Face folder say themselves what model they have, and the weights how
// many classes. `image_size` is that of a VGG model; 0: the run's, or without one as published.
// Throws BadInput if the model has no ONNX form or takes no size of images, or if its weights do
// not fit, and the errors of the readers; nothing is written then.
Exported ExportOnnx(const recipes::ConvertOptions& options, int64_t image_size = 0);

}  // namespace torus::onnx
