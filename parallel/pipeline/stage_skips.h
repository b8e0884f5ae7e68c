// StageSkips: the tensors that a stage takes from earlier stages and stashes for later ones
// (Block::takes, stashes), and their gradients, between two actions and on their links.
// StageRunner's own part.
//
// They need no actions of their own in a schedule: sends do not wait, and what a forward or
// backward needs was sent before the last of the sends along the cuts that it waits for anyway.
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
  using Tensors = std::vector<Tensor>;

  // `slots`: how many micro-batches may be under way.
  explicit StageSkips(int slots) : slots_(slots) {}
  StageSkips(const StageSkips&) = delete;
  StageSkips& operator=(const StageSkips&) = delete;

  // One skip: its place among all of the model's, and the stage at its other end.
  struct Route {
    int number = 0;              // of its messages, among the cuts' (TensorLink::Options::cut)
    std::string name;            // "skip u1 from stage 0 to stage 2"
    StageSkips* here = nullptr;  // where that stage is on this rank
    size_t index = 0;            // of the skip there
    int rank = -1;               // else the rank that runs it
    Transport* transport = nullptr;
    LinkCodecs codecs;
    EncoderThread* encoder = nullptr;  // where the rank has one
    Device device = {};                // where the rank computes
    int64_t warmup = 0;                // TensorLink::Options::warmup
    std::string samples_folder = {};   // TensorLink::Options::samples_folder
    Transport* sharers = nullptr;      // TensorLink::Options::sharers
  };
  // Called in the order of Stage::takes and of Stage::stashes, before step 0. `spec`: of the
  // largest micro-batch.
  void ConnectTaken(const Route& route, const TensorSpec& spec);
  void ConnectStashed(const Route& route, const TensorSpec& spec);

  bool empty() const { return taken_.empty() && stashed_.empty(); }

  // Begins a mini-batch.
  void Begin();
  // Starts the receives that a forward or backward of the stage needs, before its turn; false where
  // the links have started enough.
  bool Expect(ActionKind compute, size_t slot, const std::string& what);
  // Goes on with the receives that have been started.
  void Advance();
  // Before a forward: receives what the stage takes. Before a backward: the gradients of what it
  // has stashed.
  // `when`: for the codecs.
  void Receive(ActionKind compute, size_t slot, const std::string& what, RankTotals& totals,
               const CodecContext& when);
  // Behind them: sends what was stashed, or the gradients of what was taken.
  void Send(ActionKind compute, size_t slot, const std::string& what, RankTotals& totals,
            const CodecContext& when);
  // Throws what the encoder's thread has thrown. `wait`: until it has done all.
  void CheckSent(bool wait);
  // Blocks until everything sent has been received.
  void Flush(RankTotals& totals);

  // Of the forward: adds what is taken behind the inputs, and moves what is stashed from behind the
  // outputs. Of the backward: the same with their gradients.
  void AppendTaken(size_t slot, Tensors& inputs);
  void SplitStashed(size_t slot, Tensors& outputs);
  void AppendStashedGradients(size_t slot, Tensors& output_grads);
  void SplitTakenGradients(size_t slot, Tensors& input_grads);

  // All of them.
  std::vector<TensorLink*> Links();
  // Whether every tensor sent or received through a codec since Begin is finite.
  bool finite() const;
  // The links on which this stage sends, by the order of connecting; null on one rank.
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
