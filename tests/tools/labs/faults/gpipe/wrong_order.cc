// Fault: goes back in descending order.
#include <vector>

#include "lab_pipeline.h"

namespace lab {
namespace {

class Worker {
 public:
  Worker(Stage& stage, Wire& wire)
      : stage_(stage), wire_(wire), in_(stage.width()), out_(stage.width()) {}

  void Forward(int micro_batch) {
    if (!first()) wire_.Recv(wire_.rank() - 1, in_);
    stage_.Forward(micro_batch, in_, out_);
    if (!last()) wire_.Send(wire_.rank() + 1, out_);
  }
  void Backward(int micro_batch) {
    if (!last()) wire_.Recv(wire_.rank() + 1, out_);
    stage_.Backward(micro_batch, out_, in_);
    if (!first()) wire_.Send(wire_.rank() - 1, in_);
  }

 private:
  bool first() const { return wire_.rank() == 0; }
  bool last() const { return wire_.rank() == wire_.size() - 1; }

  Stage& stage_;
  Wire& wire_;
  std::vector<float> in_, out_;
};

}  // namespace

void RunStage(Stage& stage, Wire& wire) {
  Worker worker(stage, wire);
  const int count = stage.micro_batches();

  for (int m = 0; m < count; ++m) worker.Forward(m);
  for (int m = count - 1; m >= 0; --m) worker.Backward(m);
  stage.Step(1.0F / static_cast<float>(count));
}

}  // namespace lab
