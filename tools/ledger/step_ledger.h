// Records what emulated GPUs are given, for the steps of a program that runs on them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ops/cuda/cudnn/graph_stand_in.h"
#include "ops/cuda/product_stand_in.h"
#include "runtime/emulated_gpu/block.h"
#include "runtime/emulated_gpu/queues.h"
#include "tools/ledger/work.h"

namespace torus::ledger {

// While it is alive, no GPU of the process computes. What the addresses of later kernels may depend
// on happens all the same: small kernels run, and small copies are made. Memory that nothing wrote
// holds zeros, and so do small results of kernels that are not run. There may be one at a time,
// before any memory of a GPU was taken.
class StepLedger : public emulated_gpu::Observer {
 public:
  StepLedger();

  // From now on, work that is given to the first GPU is recorded. What it was given before is done
  // first.
  void Begin();
  // What was recorded, with all that the GPU was given until now; ends the recording.
  Works End();

  void OnLaunch(const emulated_gpu::SeenLaunch& launch) override;
  void OnCopy(void* to, const void* from, size_t bytes, StreamHandle stream) override;

 private:
  // A launch that was counted, and its arguments.
  struct Counted {
    std::string arguments;
    Works works;
  };

  Works Count(const emulated_gpu::SeenLaunch& launch);
  void Enqueue(std::vector<Work> works, StreamHandle stream);

  bool recording_ = false;
  Works recorded_;
  // By op, kernel, grid and arguments; of addresses by what they are aligned to and which of them
  // lie in one tensor.
  std::map<std::string, Counted> counted_;
  cuda::ProductStandIn products_;
  cuda::GraphStandIn graphs_;
  emulated_gpu::Observed observed_;
};

}  // namespace torus::ledger
