// RingTransport: a transport whose engine sums with a student's ring. To sum a run's gradients with
// it, set recipes::RunOptions::wrap_transport and the collectives "engine".
#pragma once

#include <memory>

#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/engine.h"
#include "tools/labs/train_with/call_watch.h"
#include "tools/labs/train_with/ring_library.h"
#include "tools/labs/train_with/ring_wire.h"
#include "tools/labs/train_with/sum_check.h"

namespace torus::tools::labs {

class RingTransport : public parallel::DecoratedTransport, public parallel::Engine {
 public:
  // What all ranks share.
  struct Shared {
    SumCheck& check;
    CallWatch& watch;
  };

  // Wraps `link`, which itself wraps `inner`; or `inner` if `link` is null. A null `function` is
  // the trainer's own ring, with the division by n that the exercise asks for. `counts` is this
  // rank's. `inner`, `counts` and what is shared must outlive this object.
  RingTransport(parallel::Transport& inner, std::unique_ptr<parallel::Transport> link,
                RingFunction function, RingCounts& counts, Shared shared);

  // The engine for all ranks. Throws BadInput for other members.
  parallel::Engine* EngineOf(const std::vector<int>& members) override;

  // Sums with the ring, and has finished when it returns. The ring computes the mean, but an engine
  // must give the sum, so each of the n ranks passes n times its terms to the ring. (That is what
  // its own gradient would be if it trained alone.) For n = 2, 4, 8, ... this is exact; for others
  // the product and the quotient round, in the same way for each ring that adds in the same order
  // and divides by n. Throws BadInput unless `data` is f32 in the CPU's memory, and the errors of
  // RingWire.
  parallel::Pending AllReduce(parallel::Buffer data, DType dtype, std::string what) override;

 private:
  void Mean(std::span<float> values, const std::string& what);

  parallel::Transport& inner_;
  const std::unique_ptr<parallel::Transport> link_;
  const RingFunction function_;
  RingCounts& counts_;
  const Shared shared_;
};

}  // namespace torus::tools::labs
