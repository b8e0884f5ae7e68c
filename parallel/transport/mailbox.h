// Mailbox: matches sends with receives for the in-process transport. Not thread-safe: the caller
// holds a lock.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "parallel/transport/tag.h"
#include "parallel/transport/transfer_text.h"
#include "runtime/stream.h"

namespace torus::parallel {

// One side of a transfer.
struct Message {
  bool sends = false;
  int from = 0, to = 0;
  Tag tag;
  const void* source = nullptr;  // of a send
  void* target = nullptr;        // of a receive
  size_t bytes = 0;
  Device device;                         // of `source` or `target`
  std::shared_ptr<const Event> reached;  // GPU memory: earlier work that uses it
  std::string what;

  std::shared_ptr<Message> match;  // the other side, once it has been started
  bool withdrawn = false;          // cancelled; still keeps its place in the order of its tag
  bool moving = false;             // the receiver is copying from `source`
  bool done = false;
  std::string error;  // how the two sides' sizes differ; empty if they do not

  int rank() const { return sends ? from : to; }
  int peer() const { return sends ? to : from; }
  TransferText Text() const { return {sends, rank(), peer(), tag, bytes, what}; }
};

class Mailbox {
 public:
  // Matches the message with the oldest waiting message of the other side that has the same ranks
  // and tag. If there is none, the message waits.
  void Post(const std::shared_ptr<Message>& message);
  // Cancels a message that is not being copied. Its counterpart, started already or later, is never
  // matched either, so later messages of the tag stay in order.
  void Withdraw(const std::shared_ptr<Message>& message);

 private:
  using Queue = std::deque<std::shared_ptr<Message>>;
  using Key = std::tuple<bool, int, int, TagClass, int32_t, bool>;  // sends, from, to, tag
  static Key KeyOf(const Message& message, bool sends) {
    return {
        sends, message.from, message.to, message.tag.kind, message.tag.number, message.tag.stamp};
  }

  std::map<Key, Queue> waiting_;  // holds no empty queue
};

}  // namespace torus::parallel
