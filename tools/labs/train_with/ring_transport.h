// RingTransport: a transport whose engine sums by a student's ring. A run with the collectives
// "engine" over it (recipes::RunOptions::wrap_transport) sums its gradients so.
#pragma once

#include <memory>

#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/engine.h"
#include "tools/labs/train_with/ring_library.h"
#include "tools/labs/train_with/ring_wire.h"
#include "tools/labs/train_with/sum_check.h"

namespace torus::tools::labs {

class RingTransport : public parallel::DecoratedTransport, public parallel::Engine {
 public:
  // Over `inner`; where `link` is not null, over that, which is over `inner`. `inner`, `counts`,
  // which is of this rank, and `check`, which is of all, must outlive it.
  RingTransport(parallel::Transport& inner, std::unique_ptr<parallel::Transport> link,
                RingFunction function, RingCounts& counts, SumCheck& check);

  // Of all ranks; BadInput for others.
  parallel::Engine* EngineOf(const std::vector<int>& members) override;

  // The ring gives the mean and an engine the sum, so each rank hands in n times its terms: what
  // its own gradient would be if it trained alone. By 2, 4, 8, ... that is exact, and the sum has
  // the bits of a ring that adds in the same order. BadInput unless `data` is f32 in the CPU's
  // memory; else the errors of RingWire. It is done when this returns.
  parallel::Pending AllReduce(parallel::Buffer data, DType dtype, std::string what) override;

 private:
  parallel::Transport& inner_;
  const std::unique_ptr<parallel::Transport> link_;
  const RingFunction function_;
  RingCounts& counts_;
  SumCheck& check_;
};

}  // namespace torus::tools::labs
