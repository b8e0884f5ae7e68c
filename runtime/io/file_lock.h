// An exclusive lock by means of a file: flock(2), which the system releases when the holder's
// process ends, however it ends.
#pragma once

#include <string>

#include "runtime/error.h"

namespace torus::io {

// Somebody else holds the lock.
class LockHeld : public BadInput {
 public:
  using BadInput::BadInput;
};

class FileLock {
 public:
  // Creates `file` and its folder if they are missing, and locks without waiting. `what` names the
  // guarded thing and is the tag of errors. Throws LockHeld, naming the holder's process and host,
  // if the lock is already held, BadInput if the file is not a lock file, and BrokenEnvironment
  // with the reason if the system refuses.
  FileLock(std::string file, std::string what);
  // Removes the file, unless LeaveFile was called.
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // Whether an earlier holder left the file behind because it was killed.
  bool abandoned() const { return abandoned_; }
  // Keeps the file, so that the next holder sees abandoned().
  void LeaveFile() { leave_ = true; }

 private:
  bool Open();
  [[noreturn]] void Refuse(const std::string& holder) const;
  void Claim();

  const std::string file_, what_;
  int fd_ = -1;
  bool abandoned_ = false, leave_ = false;
};

}  // namespace torus::io
