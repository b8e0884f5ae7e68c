// ReplicaStrategy: how the replicas of a stage get from their own gradients to the weights of the
// next step. Each replica of each stage has one; docs/data_parallel.md compares the strategies.
//
// A replica *holds* what it updates: all parameters (ddp), none, or slices of them. Between
// ReduceGradients and PublishWeights the trainer works only on what is held: tied uses, norm,
// finite check, optimizer, averages. Each element is summed in pairs of neighbouring replicas, then
// pairs of pairs, so that all strategies that keep replicas equal give the same bits.
//
// The sum needs no division. Executor already weights a micro-batch's gradient by its samples over
// those of the *global* mini-batch, so the replicas' gradients add up to the gradient of the mean
// loss, even if the last batch is shared unevenly.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "parallel/codec/codec_context.h"
#include "parallel/collectives/communicator.h"

namespace torus::parallel {

// Returns the whole tensor of a parameter.
using WeightReader = std::function<Tensor(const std::string& parameter)>;

// Base class; its default functions are those of a replica that holds everything.
class ReplicaStrategy {
 public:
  // `replicas`: between the replicas of this stage; must outlive this.
  // `uses`: the stage's parameters, with one entry per use of a tied one (Stage::Parameters);
  // names, shapes and order are the same on all replicas.
  ReplicaStrategy(Communicator& replicas, std::vector<NamedVariable> uses);
  virtual ~ReplicaStrategy() = default;
  ReplicaStrategy(const ReplicaStrategy&) = delete;
  ReplicaStrategy& operator=(const ReplicaStrategy&) = delete;

  // What this replica holds, one entry per use: the parameter itself; or a slice of k consecutive
  // elements, of shape (k, 1, ...) with as many dimensions as the parameter; or an undefined value
  // for nothing.
  const std::vector<NamedVariable>& held() const { return held_; }

  // All replicas call the functions with a `what` together; errors contain it ("step 17, stage 1").

  // Copies the weights of replica 0 to all, bit for bit. Call once, before all others.
  virtual void BroadcastWeights(const std::string& what);
  // For a codec of the gradients. Called before a step, with its number and the factor of its
  // gradients (the loss scale), and after it, with whether it was taken.
  virtual void BeginStep(int64_t /*step*/, double /*scale*/) {}
  virtual void EndStep(bool /*taken*/) {}
  // Called before the stage's last backward of a step, which completes the gradients: from then on
  // a strategy may sum those that are complete. Not called on a replica without samples, or if
  // gradients are first summed elsewhere (GradientTree).
  virtual void BeginLastBackward(const std::string& what);
  // Continues sums that have started, without waiting. Called now and then.
  virtual void Advance();
  // Called after the stage's last backward. Afterwards the held have the sums of the gradients, and
  // nothing else of the stage has gradients; a parameter for which no replica has a gradient has
  // none. `share`: this replica's share of the global mini-batch's samples.
  virtual void ReduceGradients(const std::string& what, double share) = 0;
  // The sum of squares of each use's whole gradient, from the gradients that the replicas hold now:
  // one entry per use, the same on all replicas. 0 if there is no gradient.
  virtual std::vector<double> SquaredNorms(const std::string& what);
  // Called after the held have changed: sends the new weights to all replicas.
  virtual void PublishWeights(const std::string& what);

  // For strategies whose replicas take steps of their own and exchange weights (weight_exchange.h).
  // exchanges_weights: whether this is one; is_apart: whether the replicas' weights may differ now.
  virtual bool exchanges_weights() const { return false; }
  virtual bool is_apart() const { return false; }
  // Called after a step that was taken: exchanges weights if it is time to.
  virtual void Synchronize(const std::string& /*what*/) {}
  // Replace the weights by their mean over the replicas, if these are apart, and bring them back.
  virtual void EnterMean(const std::string& /*what*/) {}
  virtual void LeaveMean() {}
  // What they keep besides from step to step, the same on all replicas, by trained parameter.
  struct Round {
    int64_t place = 0;  // steps taken since the round began
    std::vector<NamedTensor> start{}, velocity{};
  };
  virtual Round round() const { return {}; }
  virtual void SetRound(const Round& /*round*/) {}

  // The actions kGather and kFree: weights may be read only between them.
  virtual void GatherWeights(const std::string& what);
  virtual void FreeWeights();

  // Replaces the weights by copies of the whole tensors that `read` returns; reads only those it
  // needs. Sends no messages.
  virtual void SetWeights(const WeightReader& read);
  // On replica 0 the whole parameters, one entry per use, or their means over replicas that are
  // apart; they may share memory with the stage. On others the result is not to be used.
  virtual std::vector<NamedTensor> Weights(const std::string& what);
  // Joins tensors of the held to tensors of whole parameters. `own` are named PARAMETER or
  // PARAMETER.KIND, and shaped like what is held or scalars. Returns the whole ones on replica 0,
  // in the order of `parameters`; on others the result is not to be used.
  virtual std::vector<NamedTensor> Whole(std::vector<NamedTensor> own,
                                         const std::vector<std::string>& parameters,
                                         const std::string& what);
  // The inverse: returns the part of such a list that belongs to the held. The list may have
  // tensors of other stages too. Sends no messages.
  virtual std::vector<NamedTensor> OwnPart(std::vector<NamedTensor> whole) const;

  // The state of a codec of the gradients on this replica, by parameter; empty if there is no
  // codec. Call between steps.
  virtual std::map<std::string, CodecMemory> codec_memories() const { return {}; }
  virtual void SetCodecMemories(std::map<std::string, CodecMemory> /*memories*/) {}

  // For each replica, the bytes so far that a codec has saved in what this one sends it; negative
  // if the codec makes more bytes. Empty if there is no codec.
  virtual std::vector<int64_t> SavedBytes() const { return {}; }

  // Bytes of the weights that this replica keeps between steps, tied ones once.
  virtual uint64_t WeightBytes() const;
  // Bytes of gathered weights at present, in addition.
  virtual uint64_t GatheredBytes() const;
  // Bytes of all gradients of the stage at present.
  uint64_t GradientBytes() const;

 protected:
  Communicator& replicas() const { return replicas_; }
  const std::vector<NamedVariable>& uses() const { return uses_; }
  std::vector<NamedVariable>& uses() { return uses_; }
  std::vector<NamedVariable> held_;

 private:
  Communicator& replicas_;
  std::vector<NamedVariable> uses_;
  std::vector<size_t> first_uses_;  // of each name
};

}  // namespace torus::parallel
