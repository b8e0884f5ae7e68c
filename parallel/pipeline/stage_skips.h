// StageSkips: the skip connections of a stage: the tensors that it takes from earlier stages and
// stashes for later ones (Block::takes, stashes), their gradients, and their links. Internal to
// StageRunner.
//
// Skip connections need no actions in a schedule. Sends do not block, and what a forward or
// backward needs was sent before the last of the sends across the cuts for which it waits anyway.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "parallel/pipeline/link_codecs.h"
#include "parallel/pipeline/tensor_link.h"
#include "parallel/schedule/schedule.h"

namespace torus::parallel {

class StageSkips {
 public:
  using Tensors = std::vector<Tensor>;  // one for each skip

  // `slots`: the most micro-batches in flight.
  explicit StageSkips(int slots) : slots_(slots) {}
  StageSkips(const StageSkips&) = delete;
  StageSkips& operator=(const StageSkips&) = delete;

  // One skip: its number among all of the model's, and the stage at its other end.
  struct Route {
    int number = 0;     // for its messages; unique among cuts and skips (TensorLink::Options::cut)
    std::string place;  // TensorLink::Options::place
    std::string name;   // "skip u1 from stage 0 to stage 2"
    StageSkips* here = nullptr;        // of that stage, if it is on this rank
    size_t index = 0;                  // of the skip in `here`
    int rank = -1;                     // otherwise the rank that runs that stage
    Transport* transport = nullptr;    // of the pipeline
    LinkCodecs codecs;                 // of the skip
    EncoderThread* encoder = nullptr;  // null if the rank has none
    Device device = {};                // where the rank computes
    int64_t warmup = 0;                // TensorLink::Options::warmup
    std::string samples_folder = {};   // TensorLink::Options::samples_folder
    Transport* sharers = nullptr;      // TensorLink::Options::sharers
  };
  // Called in the order of Stage::takes, and ConnectStashed of Stage::stashes, before step 0.
  // `spec`: of the largest micro-batch.
  void ConnectTaken(const Route& route, const TensorSpec& spec);
  void ConnectStashed(const Route& route, const TensorSpec& spec);

  bool empty() const { return taken_.empty() && stashed_.empty(); }  // whether it has no skips

  // Begins a mini-batch.
  void Begin();
  // Starts the receives that a forward or backward of the stage needs, ahead of its turn. Returns
  // false if a link has already started as many as it may.
  bool Expect(ActionKind compute, size_t slot, const std::string& what);
  // Continues the receives that have been started.
  void Advance();
  // Before a forward: receives what the stage takes. Before a backward: the gradients of what it
  // has stashed. `when`: for the codecs.
  void Receive(ActionKind compute, size_t slot, const std::string& what, RankTotals& totals,
               const CodecContext& when);
  // After a forward: sends what was stashed. After a backward: the gradients of what was taken.
  void Send(ActionKind compute, size_t slot, const std::string& what, RankTotals& totals,
            const CodecContext& when);
  // Rethrows what the encoder thread has thrown. `wait`: first waits until it has done all its
  // jobs.
  void CheckSent(bool wait);
  // Blocks until everything sent has been received.
  void Flush(RankTotals& totals);

  // For a forward: AppendTaken adds the taken tensors after the inputs, and SplitStashed removes
  // the stashed ones from the end of the outputs. AppendStashedGradients and SplitTakenGradients do
  // the same with gradients in a backward.
  void AppendTaken(size_t slot, Tensors& inputs);
  void SplitStashed(size_t slot, Tensors& outputs);
  void AppendStashedGradients(size_t slot, Tensors& output_grads);
  void SplitTakenGradients(size_t slot, Tensors& input_grads);

  // All links of the skips.
  std::vector<TensorLink*> Links();
  // Whether every tensor sent or received through a codec since Begin is finite.
  bool finite() const;
  // The links on which this stage sends, by index in the order of connecting; null if both stages
  // are on this rank. Of gradient_sent by index of what it takes.
  const TensorLink* activation_sent(size_t stashed) const;
  const TensorLink* gradient_sent(size_t taken) const;

 private:
  struct Way {
    Tensors tensors;  // by slot
    std::optional<TensorLink> link;
  };
  struct Port {
    Route route;
    Way activation, gradient;
    Way& Of(bool forward) { return forward ? activation : gradient; }
  };
  Port& Add(std::deque<Port>& ports, const Route& route, const TensorSpec& spec);

  const int slots_;
  std::deque<Port> taken_, stashed_;
};

}  // namespace torus::parallel
