// DataForm: a model's inputs and outputs, known before any data are read.
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
  // Shapes and dtypes of the inputs of a micro-batch of `rows` rows.
  std::function<std::vector<parallel::TensorSpec>(int64_t rows)> inputs;
};

// Images (H, W, 3) of the dataset `title`, resized to --image-size if that is given. Throws
// BadInput if neither `image` nor --image-size has a size.
DataForm ImageForm(const std::string& title, Shape image, int64_t classes,
                   const Settings& settings);
// Rows of `length` tokens: sentences with a mask; windows of a text without, or with the numbers of
// their documents.
DataForm SentenceForm(const std::string& title, int64_t classes, int64_t length);
DataForm TextForm(const std::string& title, int64_t vocabulary, int64_t length,
                  bool documents = false);

// The inputs and outputs of --model as published: ImageNet's 1000 classes at 224 x 224 (CIFAR
// ResNets: 10 at 32 x 32), sentences of two classes, GPT-2's vocabulary. --image-size and --length
// change the size if `given` says that the flag was given.
DataForm PublishedForm(const Settings& settings, const std::function<bool(const char*)>& given);

// The form of --data, if its name and the other flags determine it.
std::optional<DataForm> KnownForm(const Settings& settings);

// "CIFAR-10", "CoLA". A name without a title is returned unchanged.
std::string DataTitle(const std::string& name);

}  // namespace torus::recipes
