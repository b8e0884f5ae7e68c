// CrashNote: says whose code it was where a program crashes or is ended from within.
#pragma once

#include <string>

namespace torus::tools::labs {

// From now on a fatal signal, or a call of exit, on a thread that has a CrashNote ends the program
// with status 1 and one line on stderr: the note's text, and what happened; of several threads the
// first one's. A signal on another thread ends the program as it does by default: handlers from
// before are gone.
void SayWhoCrashes();

// While it lives the calling thread runs code that is `who`. One at a time on a thread.
class CrashNote {
 public:
  explicit CrashNote(const std::string& who);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;
};

}  // namespace torus::tools::labs
