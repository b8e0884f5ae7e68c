// What a rank's process and the grader say to each other over the one socket between them: heads,
// each with `bytes` of payload behind it but where it says otherwise. Both ends are one machine's,
// so structs go as they are.
#pragma once

#include <cstdint>

namespace lab {

constexpr int kDoor = 3;  // the socket's number in the rank's process

enum class Kind : uint32_t {
  // To a rank.
  kTask,     // first of all: peer = its number, number = ranks; payload: a count of int64, these,
             // and then floats
  kMessage,  // answers kRecv and kWaitSum
  // From a rank.
  kSend,      // to `peer`
  kRecv,      // of `peer`; `bytes` are what it expects, without a payload
  kCompute,   // number = seconds of the virtual clock; payload: what it computes, as text
  kStartSum,  // begins its next sum over all ranks
  kWaitSum,   // number = which of its sums, from 0; `bytes` as in kRecv
  kFact,      // number, named by the payload
  kFailed,    // payload: why, as text; the last head
  kResult,    // payload: floats; the last head
};

struct Head {
  Kind kind = Kind::kTask;
  int32_t peer = 0;
  uint64_t bytes = 0;
  double number = 0;
};

}  // namespace lab
