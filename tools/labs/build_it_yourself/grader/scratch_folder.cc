#include "tools/labs/build_it_yourself/grader/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "runtime/error.h"

namespace torus::tools::labs {

ScratchFolder::ScratchFolder() {
  const char* base = getenv("TMPDIR");
  path_ = fmt::format("{}/torus-lab-XXXXXX", base == nullptr ? "/tmp" : base);
  if (mkdtemp(path_.data()) == nullptr)
    Throw<BrokenEnvironment>("grade", "cannot make the folder {}: {}", path_, strerror(errno));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace torus::tools::labs
