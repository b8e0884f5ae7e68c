#include "tools/labs/build_it_yourself/grader/labs_folder.h"

#include <filesystem>

#include "runtime/error.h"

namespace torus::tools::labs {

namespace fs = std::filesystem;

std::string LabsFolder() {
  const std::string place = "tools/labs/build_it_yourself";
  const fs::path program = fs::read_symlink("/proc/self/exe");
  for (const fs::path& folder :
       {program.parent_path() / "build_it_yourself",
        fs::path(program.string() + ".runfiles") / "torus" / place, fs::current_path() / place})
    if (fs::exists(folder / "rank" / "lab_wire.h")) return folder.string();
  Throw<BrokenEnvironment>("grade", "the files of the labs are neither beside {} nor below {}",
                           program.string(), fs::current_path().string());
}

}  // namespace torus::tools::labs
