// Records what emulated GPUs are given, for the steps of a program that runs on them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ops/cuda/cudnn/graph_stand_in.h"
#include "ops/cuda/gemm.h"
#include "runtime/emulated_gpu/block.h"
#include "runtime/emulated_gpu/queues.h"
#include "tools/ledger/work.h"

namespace torus::ledger {

// While it is alive, no GPU of the process computes. What the addresses of later kernels may depend
// on happens all the same: small kernels run, and small copies are made. Memory that nothing wrote
// holds zeros. There may be one at a time, before any memory of a GPU was taken.
class StepLedger : public emulated_gpu::Observer {
 public:
  StepLedger();

  // From now on, work is recorded.
  void Begin();
  // What was recorded, in order; ends the recording.
  std::vector<std::shared_ptr<const Work>> End();

  void OnLaunch(const emulated_gpu::SeenLaunch& launch) override;
  void OnCopy(void* to, const void* from, size_t bytes) override;

 private:
  // A launch that was counted, and its arguments.
  struct Counted {
    std::string arguments;
    std::shared_ptr<const Work> work;
  };
  using Works = std::vector<std::shared_ptr<const Work>>;

  std::shared_ptr<const Work> Count(const emulated_gpu::SeenLaunch& launch);
  void Enqueue(std::vector<Work> works, StreamHandle stream);

  bool recording_ = false;
  Works recorded_;
  std::map<std::string, Counted> counted_;  // by kernel, grid and arguments but for addresses
  cuda::ProductStandIn products_;
  cuda::GraphStandIn graphs_;
  emulated_gpu::Observed observed_;
};

}  // namespace torus::ledger
