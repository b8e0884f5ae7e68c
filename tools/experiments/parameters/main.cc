#include "tools/experiments/common/experiment_main.h"
#include "tools/experiments/parameters/parameters.h"

int main(int argc, char** argv) {
  return torus::experiments::ExperimentMain(torus::experiments::Parameters(), argc, argv);
}
