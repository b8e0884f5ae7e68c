// A folder for compiled files, removed with the object.
#pragma once

#include <string>

namespace torus::tools::labs {

class ScratchFolder {
 public:
  ScratchFolder();  // in TMPDIR, else /tmp; throws BrokenEnvironment if it cannot be made
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace torus::tools::labs
