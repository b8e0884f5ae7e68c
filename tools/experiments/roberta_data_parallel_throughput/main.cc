#include "tools/experiments/common/experiment_main.h"
#include "tools/experiments/roberta_data_parallel_throughput/roberta_data_parallel_throughput.h"

int main(int argc, char** argv) {
  return torus::experiments::ExperimentMain(torus::experiments::RobertaDataParallelThroughput(),
                                            argc, argv);
}
