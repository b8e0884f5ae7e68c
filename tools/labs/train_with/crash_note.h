// CrashNote: says whose code was running if the program crashes or calls exit.
#pragma once

#include <string>

namespace torus::tools::labs {

// From now on, a fatal signal or a call of exit on a thread that has a CrashNote ends the program
// with status 1 and one line on stderr: the note's text and what happened. If several threads
// crash, only the first one prints. A fatal signal on any other thread has its default effect;
// handlers installed before are replaced.
void SayWhoCrashes();

// While it lives, the calling thread runs the code of `who`. At most one at a time per thread.
class CrashNote {
 public:
  explicit CrashNote(const std::string& who);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;
};

}  // namespace torus::tools::labs
