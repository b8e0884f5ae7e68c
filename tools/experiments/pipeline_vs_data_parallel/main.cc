#include "tools/experiments/common/experiment_main.h"
#include "tools/experiments/pipeline_vs_data_parallel/pipeline_vs_data_parallel.h"

int main(int argc, char** argv) {
  return torus::experiments::ExperimentMain(torus::experiments::PipelineVsDataParallel(), argc,
                                            argv);
}
