#include "tools/experiments/common/experiment_main.h"
#include "tools/experiments/gpt3xl_networks/gpt3xl_networks.h"

int main(int argc, char** argv) {
  return torus::experiments::ExperimentMain(torus::experiments::Gpt3xlNetworks(), argc, argv);
}
