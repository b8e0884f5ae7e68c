// The protocol between a rank's process and the grader, over the one socket that connects them.
// Each message is a Head, followed by `bytes` bytes of payload unless noted otherwise. Both ends
// run on the same machine, so structs are sent as they are.
#pragma once

#include <cstdint>

namespace lab {

constexpr int kDoor = 3;  // the socket's number in the rank's process

enum class Kind : uint32_t {
  // To a rank.
  kTask,     // the first message: peer = the rank's number, number = how many ranks there are;
             // payload: a count as int64, so many int64, and then floats
  kMessage,  // answers kRecv and kWaitSum
  // From a rank.
  kSend,      // a message to `peer`
  kRecv,      // waits for a message from `peer` of `bytes` bytes; no payload
  kCompute,   // number = seconds of the virtual clock; payload: what it computes, as text
  kStartSum,  // starts its next sum over all ranks; payload: its floats
  kWaitSum,   // number = which of its sums, from 0; `bytes` as in kRecv; no payload
  kFact,      // number = a value; payload: its name
  kFailed,    // payload: why, as text; a rank's last message
  kResult,    // payload: floats; a rank's last message
};

struct Head {
  Kind kind = Kind::kTask;
  int32_t peer = 0;
  uint64_t bytes = 0;
  double number = 0;
};

}  // namespace lab
