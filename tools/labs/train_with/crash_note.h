// Says whose code was running if the program crashes or calls exit.
#pragma once

#include <string>

namespace torus::tools::labs {

// While it lives, the program ends with status 1 and one line on stderr by a fatal signal on a
// thread that has a CrashNote, whose text the line begins with, and by a call of exit on any
// thread. If several threads crash, only the first one prints. A fatal signal on any other thread
// has its default effect; handlers installed before are replaced. At most one at a time.
class CrashWatch {
 public:
  CrashWatch();
  ~CrashWatch();
  CrashWatch(const CrashWatch&) = delete;
  CrashWatch& operator=(const CrashWatch&) = delete;
};

// While it lives, the calling thread runs the code of `who`. At most one at a time per thread.
class CrashNote {
 public:
  explicit CrashNote(const std::string& who);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;
};

}  // namespace torus::tools::labs
