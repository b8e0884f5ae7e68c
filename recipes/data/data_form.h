// DataForm: what a model's inputs and outputs are, known before any data are read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parallel/pipeline/tensor_header.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

struct DataForm {
  std::string title;    // "Fashion-MNIST"
  int64_t classes = 0;  // outputs: classes, or tokens of a vocabulary
  // Shapes and dtypes of the inputs of a micro-batch of so many rows.
  std::function<std::vector<parallel::TensorSpec>(int64_t rows)> inputs;
};

// Images (H, W, 3) of the dataset `title`, in the size that --image-size names where it does.
// BadInput where neither gives one.
DataForm ImageForm(const std::string& title, Shape image, int64_t classes,
                   const Settings& settings);
// Rows of --length tokens with a mask, as sentences are; or without, as windows of a text are.
DataForm SentenceForm(const std::string& title, int64_t classes, int64_t length);
DataForm TextForm(const std::string& title, int64_t vocabulary, int64_t length);

// What --model takes and puts out as it was published: ImageNet's 1000 classes at 224 x 224 (CIFAR
// ResNets: 10 at 32 x 32), sentences of two classes, GPT-2's vocabulary; --image-size and --length
// change the size where they are `given`.
DataForm PublishedForm(const Settings& settings, const std::function<bool(const char*)>& given);

// That of --data, where its name and the other flags say all there is to know.
std::optional<DataForm> KnownForm(const Settings& settings);

// "CIFAR-10", "CoLA"; a name without a title stands for itself.
std::string DataTitle(const std::string& name);

}  // namespace torus::recipes
