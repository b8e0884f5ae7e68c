// The interface between the trainer and a student's ring in a shared object. It is plain C, so that
// the two sides need not agree on any C++ type. trainer_door.cc, which is compiled together with
// the ring, implements the ring's side.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the trainer provides. Both functions return 0. Any other value means that the run has ended,
// and the ring must return at once.
struct LabTrainerWire {
  void* trainer;  // first argument of both functions
  int rank, size;
  int (*send)(void* trainer, int to, const float* data, size_t count);
  int (*recv)(void* trainer, int from, float* data, size_t count);
};

enum LabRingEnd {
  kLabRingDone = 0,
  kLabRingStopped = 1,  // send or recv did not return 0
  kLabRingThrew = 2,    // `reason` says what, as a zero-terminated string
};

// Calls the student's AllReduceMean on `count` values. `reason` has room for `room` bytes.
int LabRingAllReduceMean(const struct LabTrainerWire* wire, float* data, size_t count, char* reason,
                         size_t room);

#ifdef __cplusplus
}
#endif
