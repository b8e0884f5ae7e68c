// TensorLink: one direction between two stages on different ranks, activations forward or gradients
// backward.
//
// A micro-batch travels as one message of headers, then one message a tensor. Float32 goes through
// the codec where there is one, into and out of buffers that exist since the ranks agreed on
// shapes; the rest, and everything without a codec, goes raw, straight from tensor to tensor. A
// tensor that the codec could not carry, because it is not finite, arrives as NaN all over, and
// both ends know.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/pipeline/rank_totals.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

class TensorLink {
 public:
  struct Ends {
    Transport* transport = nullptr;
    int peer = 0;
    TagClass kind = TagClass::kActivation;
    int cut = 0;             // the first stage after it
    Codec* codec = nullptr;  // null or the identity: raw
  };
  // `specs`: what is sent for the largest micro-batch. `micro_batches`: how many may be under way.
  TensorLink(Ends ends, std::vector<TensorSpec> specs, int micro_batches);

  // Makes the buffers that a sender, or a receiver, needs; before step 0.
  void PrepareToSend();
  void PrepareToRecv();

  // Starts sending one tensor a spec (undefined ones too) and returns. The tensors are held until
  // they have been taken. `what` names the message to a person.
  void Send(int micro_batch, const std::vector<Tensor>& tensors, const std::string& what,
            RankTotals& totals);
  // Blocks for the message of `micro_batch`. BadInput when it is larger than what was agreed.
  std::vector<Tensor> Recv(int micro_batch, const std::string& what, RankTotals& totals);
  // Blocks until all that was sent has been taken.
  void Flush(RankTotals& totals);

  // Whether the codec has carried all that was sent or received since ResetFinite.
  bool finite() const { return finite_; }
  void ResetFinite() { finite_ = true; }

  int peer() const { return ends_.peer; }
  uint64_t raw_bytes() const { return raw_bytes_; }    // what the tensors sent so far hold
  uint64_t sent_bytes() const { return sent_bytes_; }  // what their payloads took

 private:
  // A message on its way: what must stay alive until it has been taken.
  struct Slot {
    std::vector<TensorHeader> headers;
    std::vector<Tensor> tensors;
    std::vector<Tensor> encoded;  // u8, one for each spec that is encoded
    std::vector<Pending> pending;
  };
  Tag HeaderTag(int micro_batch) const;
  Tag PayloadTag(int micro_batch, size_t tensor) const;
  bool Encodes(size_t tensor) const;
  std::vector<Tensor> EncodeBuffers() const;
  // Bytes to send for tensor i of the slot, encoded where the link does that; completes its header.
  ConstBuffer Payload(Slot& slot, size_t i);
  // What arrived in `payload`.
  void Decode(const Tensor& payload, size_t bytes, Tensor& out);
  Tensor RecvTensor(const TensorHeader& header, int micro_batch, size_t tensor,
                    const std::string& what, RankTotals& totals);
  void CheckHeader(const TensorHeader& header, size_t tensor, const std::string& what) const;
  static void Wait(Pending& pending, RankTotals& totals);
  static void Release(Slot& slot, RankTotals& totals);
  void ReleaseTaken(RankTotals& totals);

  Ends ends_;
  std::vector<TensorSpec> specs_;
  std::vector<Slot> slots_;              // of a sender, one a micro-batch
  std::vector<Tensor> receive_buffers_;  // of a receiver
  uint64_t raw_bytes_ = 0, sent_bytes_ = 0;
  bool finite_ = true;
};

}  // namespace torus::parallel
