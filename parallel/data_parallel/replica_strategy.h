// ReplicaStrategy: how the replicas of a stage come from gradients of their own to the weights of
// the next step. Each replica of each stage has one; docs/data_parallel.md compares them.
//
// A replica *holds* what it steps: all parameters (ddp), none, or slices of them. Between
// ReduceGradients and PublishWeights the trainer deals with what is held alone: tied uses, norm,
// finite check, optimizer, averages. Sums are in pairs of neighbouring replicas, then pairs of
// pairs, for each element, so that all strategies whose replicas agree give the same bits.
//
// The sum needs no division: a micro-batch's gradient is weighted by its samples over those of the
// *global* mini-batch already (Executor), so the replicas' sums add up to the gradient of the mean
// loss, also when the last batch is shared unevenly.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "parallel/codec/codec_context.h"
#include "parallel/collectives/broadcast.h"

namespace torus::parallel {

// The whole tensor of a name.
using WeightReader = std::function<Tensor(const std::string& parameter)>;

// What is common to all; by itself that of a replica that holds everything.
class ReplicaStrategy {
 public:
  // `replicas`: the transport (a Group) between the replicas of this stage; must outlive this.
  // `uses`: the stage's parameters, each use of a tied one apart (Stage::Parameters), of the same
  // names and shapes in the same order on all replicas.
  ReplicaStrategy(Transport& replicas, std::vector<NamedVariable> uses);
  virtual ~ReplicaStrategy() = default;
  ReplicaStrategy(const ReplicaStrategy&) = delete;
  ReplicaStrategy& operator=(const ReplicaStrategy&) = delete;

  // What this replica holds, one entry a use: the parameter itself; or a slice of it, k elements in
  // a row, whose shape (k, 1, ...) has the parameter's rank; or an undefined value for nothing.
  const std::vector<NamedVariable>& held() const { return held_; }

  // The functions with a `what` are called by all replicas together; it stands in the errors
  // ("step 17, stage 1").

  // Copies the weights of replica 0 to all, bit for bit: once, before all others.
  virtual void BroadcastWeights(const std::string& what);
  // Around a step, for a codec of the gradients: its number, and by what they are multiplied (the
  // scale of the loss); whether it was taken.
  virtual void BeginStep(int64_t /*step*/, double /*scale*/) {}
  virtual void EndStep(bool /*taken*/) {}
  // Called before the stage's last backward of a step, whose gradients are the whole mini-batch's:
  // from then on a strategy may sum those that are whole. Not called on a replica that has no
  // samples, nor where gradients are summed elsewhere first (GradientTree).
  virtual void BeginLastBackward(const std::string& what);
  // Goes on with sums that have begun, without waiting. Called now and then.
  virtual void Advance();
  // Called once the stage's last backward is done. After it the held have the sums of the
  // gradients, and nothing else of the stage has any; a parameter that no replica has a gradient
  // for is left without. `share`: of this replica's samples in the global mini-batch's.
  virtual void ReduceGradients(const std::string& what, double share) = 0;
  // The sum of squares of each use's gradient, whole and as it now is among the held: in their
  // order, the same on all replicas. 0 where there is none.
  virtual std::vector<double> SquaredNorms(const std::string& what);
  // Called when the held have changed: gives all replicas the weights.
  virtual void PublishWeights(const std::string& what);

  // The actions kGather and kFree: what lies between them may read the weights, and nothing else.
  virtual void GatherWeights(const std::string& what);
  virtual void FreeWeights();

  // Replaces the weights by copies of the whole ones of the same names, of which it reads what it
  // needs. Without messages.
  virtual void SetWeights(const WeightReader& read);
  // On replica 0 the whole parameters, each use; they may share memory. Elsewhere anything.
  virtual std::vector<NamedTensor> Weights(const std::string& what);
  // `own`: tensors of the held, named PARAMETER or PARAMETER.KIND, which are shaped like what is
  // held or are scalars of the parameter. Returns on replica 0 those of the whole parameters, in
  // the order of `parameters`; elsewhere anything.
  virtual std::vector<NamedTensor> Whole(std::vector<NamedTensor> own,
                                         const std::vector<std::string>& parameters,
                                         const std::string& what);
  // Back: what of such a list belongs to the held; it may have tensors of other stages too. Without
  // messages.
  virtual std::vector<NamedTensor> OwnPart(std::vector<NamedTensor> whole) const;

  // What a codec of the gradients remembers on this replica, by parameter; empty where there is
  // none. To be called between steps.
  virtual std::map<std::string, CodecMemory> codec_memories() const { return {}; }
  virtual void SetCodecMemories(std::map<std::string, CodecMemory> /*memories*/) {}

  // Bytes that it has not sent to each replica so far for going through a codec; less than 0 where
  // the codec makes more of them. Empty where there is none.
  virtual std::vector<int64_t> SavedBytes() const { return {}; }

  // Bytes of the weights that this replica keeps between steps, tied ones once.
  virtual uint64_t WeightBytes() const;
  // Of those that it has gathered besides, now.
  virtual uint64_t GatheredBytes() const;
  // Of all gradients that the stage has now.
  uint64_t GradientBytes() const;

 protected:
  Transport& replicas() const { return replicas_; }
  const std::vector<NamedVariable>& uses() const { return uses_; }
  std::vector<NamedVariable>& uses() { return uses_; }
  std::vector<NamedVariable> held_;

 private:
  Transport& replicas_;
  std::vector<NamedVariable> uses_;
};

// Copies a contiguous tensor of rank `root` to all ranks, on whatever device it lies.
void BroadcastTensor(Transport& ranks, Tensor& tensor, int root, const std::string& what);
// Copies the tensors of replica 0 to all, bit for bit. BadInput unless they are contiguous.
void BroadcastTensors(Transport& replicas, const std::vector<NamedTensor>& tensors,
                      const std::string& what);

// PARAMETER of PARAMETER.KIND.
std::string ParameterOf(const std::string& state);

}  // namespace torus::parallel
