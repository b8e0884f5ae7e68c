// A folder for what is compiled, gone with the object.
#pragma once

#include <string>

namespace torus::tools::labs {

class ScratchFolder {
 public:
  ScratchFolder();  // in TMPDIR, else /tmp; BrokenEnvironment where it cannot be made
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace torus::tools::labs
