// RunContext: what the threads of one run have in common, so that two runs in a process do not
// share it: their memory account and their trace.
//
// Whoever starts a thread for a run hands it over:
//
//   thread_ = std::thread([this, context = RunContext::Current()] {
//     const WithRunContext with(context);
//     ...
//   });
#pragma once

#include <memory>

#include "runtime/memory_account.h"
#include "runtime/trace.h"

namespace torus {

struct RunContext {
  std::shared_ptr<MemoryAccount> memory;   // null: charged to none
  std::shared_ptr<trace::Recorder> trace;  // null: the process's

  // The calling thread's.
  static RunContext Current() { return {MemoryAccount::Current(), trace::Recorder::Current()}; }
};

// While one exists, the calling thread works for that run.
class WithRunContext {
 public:
  explicit WithRunContext(const RunContext& context)
      : memory_(context.memory), trace_(context.trace) {}

 private:
  const WithMemoryAccount memory_;
  const trace::WithRecorder trace_;
};

}  // namespace torus
