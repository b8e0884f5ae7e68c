// The readers of data, each with good inputs: for the mutator's tests and for libFuzzer.
#pragma once

#include <vector>

#include "tests/fuzz/fuzz.h"

namespace torus::fuzz {

// Image files, whose header may claim up to kMostPixels of up to 8 bytes each, in two copies;
// folders and lists of them. Reads tests/golden/image_files.safetensors.
std::vector<Target> ImageTargets();
// Files of tensors and of numbers.
std::vector<Target> TensorTargets();
// Vocabularies, merges, tables and files of text.
std::vector<Target> TextTargets();

}  // namespace torus::fuzz
