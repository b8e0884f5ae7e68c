// Fashion-MNIST as Kaggle publishes it: a CSV file with a line for each image.
#pragma once

#include <string>

#include "runtime/tensor.h"

namespace torus::data {

struct CsvImages {
  Tensor images;  // u8 (N, 28, 28)
  Tensor labels;  // i64 (N)
};

// Reads a line of column names, which begins with "label", and then lines of a label and 784 pixels
// from 0 to 255, row by row, between commas. Throws BadInput naming file and line for a line of
// another form.
CsvImages ReadFashionCsv(const std::string& path);

}  // namespace torus::data
