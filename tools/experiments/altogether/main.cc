#include "tools/experiments/altogether/altogether.h"
#include "tools/experiments/common/experiment_main.h"

int main(int argc, char** argv) {
  return torus::experiments::ExperimentMain(torus::experiments::Altogether(), argc, argv);
}
