// Between the trainer and a ring in a shared object: plain C, so that the two need not agree on any
// C++ type. trainer_door.cc, which is compiled with the ring, is the other side.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the trainer gives. Both calls answer 0; anything else: the run has ended, and the ring is to
// come back at once.
struct LabTrainerWire {
  void* trainer;  // first argument of the calls
  int rank, size;
  int (*send)(void* trainer, int to, const float* data, size_t count);
  int (*recv)(void* trainer, int from, float* data, size_t count);
};

enum LabRingEnd {
  kLabRingDone = 0,
  kLabRingStopped = 1,  // by the wire's answer
  kLabRingThrew = 2,    // `reason` says what, ended by a zero
};

// Calls the student's AllReduceMean on `count` values.
int LabRingAllReduceMean(const struct LabTrainerWire* wire, float* data, size_t count, char* reason,
                         size_t room);

#ifdef __cplusplus
}
#endif
