#include "tools/experiments/common/experiment_main.h"
#include "tools/experiments/data_parallel_breakdown/data_parallel_breakdown.h"

int main(int argc, char** argv) {
  return torus::experiments::ExperimentMain(torus::experiments::DataParallelBreakdown(), argc,
                                            argv);
}
