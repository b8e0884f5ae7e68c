// A lock that one holder at a time has, by a file: flock(2), which the system gives up when the
// holder's process ends, however it ends.
#pragma once

#include <string>

namespace torus::io {

class FileLock {
 public:
  // Makes `file`, and the folder that it stands in, where they are missing; locks without waiting.
  // `what` is guarded by it and is the tag of errors. BadInput where it is held already, naming the
  // holder's process and host, and where the file is not a lock's; BrokenEnvironment with the
  // reason where the system refuses.
  FileLock(std::string file, std::string what);
  // Removes the file, unless it is to stay.
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // Whether an earlier holder had left the file, because it was killed.
  bool abandoned() const { return abandoned_; }
  // The next holder then finds it abandoned.
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
