// TensorLink: one direction between two stages on different ranks, activations forward or gradients
// backward.
//
// A micro-batch travels as one message of headers, then one message a tensor. Floats go through the
// codec where there is one, into and out of buffers that exist since the ranks agreed on shapes;
// others, and all without a codec, go raw, straight from tensor to tensor.
#pragma once

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
    int stage = 0;  // of the side that receives an activation or sends a gradient: names the cut
    Codec* codec = nullptr;  // null: raw
  };
  // `specs`: what is sent for the largest micro-batch. `micro_batches`: how many may be under way
  // at once.
  TensorLink(Ends ends, std::vector<TensorSpec> specs, int micro_batches);

  // Starts sending and returns; the tensors and buffers are held until the message is taken or the
  // slot used again. `what` names the message to a person. `totals` gets the time it took.
  void Send(int micro_batch, const std::vector<Tensor>& tensors, const std::string& what,
            RankTotals& totals);
  // Blocks for the message of `micro_batch`. BadInput when it does not fit what was agreed.
  std::vector<Tensor> Recv(int micro_batch, const std::string& what, RankTotals& totals);
  // Blocks until all that was sent has been taken.
  void Flush(RankTotals& totals);

  // Bytes that raw tensors would have taken for all that was sent so far, to set beside the
  // transport's count.
  uint64_t raw_bytes_sent() const { return raw_bytes_sent_; }

 private:
  // A message on its way: what must stay alive until it has been taken.
  struct Slot {
    std::vector<TensorHeader> headers;
    std::vector<Tensor> tensors;
    std::vector<Tensor> encoded;  // u8, one a float tensor; made once
    std::vector<Pending> pending;
  };
  Tag HeaderTag(int micro_batch) const;
  Tag PayloadTag(int micro_batch, int tensor) const;
  bool Encodes(int tensor) const;
  Tensor RecvPayload(const TensorHeader& header, int micro_batch, int tensor,
                     const std::string& what, RankTotals& totals);
  void CheckHeader(const TensorHeader& header, int tensor, const std::string& what) const;
  void Release(Slot& slot, RankTotals& totals);

  Ends ends_;
  std::vector<TensorSpec> specs_;
  std::vector<Slot> slots_;              // of the sender, one a micro-batch
  std::vector<Tensor> receive_buffers_;  // of the receiver, u8, one a tensor that is encoded
  uint64_t raw_bytes_sent_ = 0;
};

}  // namespace torus::parallel
