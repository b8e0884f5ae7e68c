// Writes the weights from which torch_fine_tune starts.
#include <torch/torch.h>

#include "tools/bench/libtorch/program.h"
#include "tools/bench/libtorch/torch_models.h"

int main(int argc, char** argv) {
  const Program program(argc, argv, [] {});
  torch::save(ResNet18(1000), program.File("resnet18.pt"));
}
