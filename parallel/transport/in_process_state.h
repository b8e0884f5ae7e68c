// InProcessState: the state that the ranks of an InProcessWorld share. Internal to the in-process
// transport.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "parallel/transport/in_process.h"
#include "parallel/transport/mailbox.h"
#include "parallel/transport/wait_chain.h"

namespace torus::parallel {

struct InProcessState {
  InProcessState(int size, InProcessOptions options);

  // Payload bytes of this class that have arrived.
  std::atomic<uint64_t>& Sent(int from, int to, TagClass kind) {
    return sent[(static_cast<size_t>(from) * size + to) * kTagClasses + static_cast<size_t>(kind)];
  }
  // Wakes all ranks that wait. Only the first call has an effect. The caller holds the lock.
  void Abort(int rank, const std::string& why);
  // Throws the error of an aborted run; `waiting` says what `rank` was waiting for. The caller
  // holds the lock, or has seen `aborted`.
  [[noreturn]] void ThrowAborted(int rank, const std::string& waiting) const;

  const int size;
  const InProcessOptions options;
  std::mutex mutex;
  Mailbox mailbox;
  WaitChain chain;
  std::deque<std::condition_variable> changed;  // per rank: signals its messages, or an abort
  std::atomic<bool> aborted{false};             // set after the two below, never cleared
  int aborted_by = -1;
  std::string reason;
  std::vector<std::atomic<uint64_t>> sent;
  std::vector<std::unique_ptr<Transport>> transports;
};

}  // namespace torus::parallel
