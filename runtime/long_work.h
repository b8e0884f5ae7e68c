// The one way to say that a thread is alive while it does something that does not tick by itself.
#pragma once

#include <ctime>
#include <thread>

#include "runtime/progress.h"

namespace torus {

// A declared long work of the calling thread: opening data, building a model, writing, syncing or
// reading back files, exporting, reports. While one exists, the thread counts as alive as long as
// the system runs it at all: a helper thread looks every few milliseconds at the processor time
// that the thread has used, and ticks for it (TickAlive) if that has grown. A thread that computes,
// and one that a slow disk or network gives a page now and then, is alive, however long it takes.
// One that is blocked shows no progress, and deadlines find it as they find any other: on a lock,
// asleep, or in a call to a disk or file server that answers nothing.
//
// It cannot tell work from a loop without end, nor from a loop that polls. So no wait for another
// rank or for a GPU belongs inside of one (those have deadlines of their own). Work that other
// threads do while this one is blocked does not count either.
class LongWork {
 public:
  LongWork() : LongWork(CurrentProgress()) {}
  // For a thread without an attached counter, whose ticks therefore stop nothing: `counter` stands
  // for it. Null: does nothing.
  explicit LongWork(ProgressCounter* counter);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

 private:
  void Watch(const std::stop_token& over);

  ProgressCounter* const counter_;
  clockid_t clock_ = {};
  std::jthread helper_;
};

}  // namespace torus
