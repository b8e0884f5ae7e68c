#include "tools/experiments/common/experiment_main.h"
#include "tools/experiments/sort_quantization/sort_quantization.h"

int main(int argc, char** argv) {
  return torus::experiments::ExperimentMain(torus::experiments::SortQuantization(), argc, argv);
}
