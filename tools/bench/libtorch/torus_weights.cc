// Writes the weights from which torus_fine_tune starts.
#include <torus/torus.h>

#include "tools/bench/libtorch/program.h"

using namespace torus;  // NOLINT

int main(int argc, char** argv) {
  const Program program(argc, argv, [] {});
  const auto model = ResNet({.depth = 18, .num_classes = 1000});
  model->Initialize(/*seed=*/1);
  SaveModel(*model, program.File("resnet18.safetensors"));
}
