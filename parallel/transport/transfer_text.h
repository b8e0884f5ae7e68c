// What the errors of every transport say of a transfer.
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
// Of a wait that fails after `elapsed` seconds, the last `timeout` of them without a sign of life;
// `chain` says whose (WaitChain::Describe).
std::string GaveUpText(const TransferText& transfer, double elapsed, double timeout,
                       const std::string& chain);
// Of a rank that stops because the run was aborted by rank `by` (-1: by no rank). `waiting`: what
// it was waiting for, and how long; empty: for nothing.
std::string StoppedText(int rank, const std::string& waiting, int by, const std::string& reason);
// Of the two sides of one transfer, whose bytes differ.
std::string SizesDifferText(const TransferText& send, const TransferText& recv);

}  // namespace torus::parallel
