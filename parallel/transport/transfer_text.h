// The texts of errors about a transfer, common to all transports.
#pragma once

#include <cstddef>
#include <string>

#include "parallel/transport/tag.h"

namespace torus::parallel {

// One side of a transfer.
struct TransferText {
  bool sends = false;
  int rank = 0, peer = 0;
  Tag tag;
  size_t bytes = 0;
  std::string what;
};

// "waiting for rank 3 to send 640 bytes, tag activation/2 (activation of micro-batch 2)"
std::string WaitingText(const TransferText& transfer);
// The text of a wait that fails after `elapsed` seconds, the last `timeout` of them without
// progress. `chain` says which rank makes none (WaitChain::Describe).
std::string GaveUpText(const TransferText& transfer, double elapsed, double timeout,
                       const std::string& chain);
// The text of a rank that stops because rank `by` (-1: no single rank) aborted the run. `waiting`
// says what it was waiting for and how long; empty if it was not waiting.
std::string StoppedText(int rank, const std::string& waiting, int by, const std::string& reason);
// The text of a transfer whose two sides give different sizes.
std::string SizesDifferText(const TransferText& send, const TransferText& recv);

}  // namespace torus::parallel
