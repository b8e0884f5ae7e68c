// The binary records of CIFAR-10 and CIFAR-100: label bytes, then 3072 bytes of pixels as three
// planes of 32 x 32: red, green, blue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::data {

inline constexpr int64_t kCifarSide = 32;

struct CifarForm {
  int64_t labels = 1;    // label bytes per record
  int64_t label = 0;     // which of them is the class
  int64_t classes = 10;  // the class is in [0, classes)
};

// Reads one file into records [first, first + records) of `images` (u8 (N, 32, 32, 3)) and `labels`
// (i64 (N)). Throws BadInput naming the file unless it holds exactly `records` records, each with a
// label in range.
void ReadCifarRecords(const std::string& path, const CifarForm& form, int64_t records,
                      int64_t first, Tensor& images, Tensor& labels);

// Reads class names from a text file, one per line; empty lines, which the official files have, are
// skipped. Throws BadInput naming the file unless there are `classes` names.
std::vector<std::string> ReadClassNames(const std::string& path, int64_t classes);

}  // namespace torus::data
