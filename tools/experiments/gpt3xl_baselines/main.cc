#include "tools/experiments/common/experiment_main.h"
#include "tools/experiments/gpt3xl_baselines/gpt3xl_baselines.h"

int main(int argc, char** argv) {
  return torus::experiments::ExperimentMain(torus::experiments::Gpt3xlBaselines(), argc, argv);
}
