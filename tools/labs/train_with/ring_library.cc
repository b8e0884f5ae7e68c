#include "tools/labs/train_with/ring_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "runtime/error.h"
#include "tools/common/lines_below.h"
#include "tools/labs/train_with/crash_note.h"

namespace torus::tools::labs {
namespace {

// The loader takes two files of the same inode for one.
std::string CopyFor(const std::string& path, int rank) {
  const std::string copy = fmt::format("{}.rank{}", path, rank);
  std::filesystem::copy_file(path, copy);
  return copy;
}

// Never unloaded: a thread that the student's code has started may still be in it. Constructors of
// what is global in `file` run here.
RingFunction Load(const std::string& path, const std::string& file) {
  const CrashNote note(fmt::format("[ring] a constructor of what is global in {}", file));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) Throw<BrokenEnvironment>("ring", "cannot load it: {}", dlerror());
  void* const function = dlsym(library, "LabRingAllReduceMean");
  TORUS_CHECK(function != nullptr);
  return reinterpret_cast<RingFunction>(function);
}

}  // namespace

RingLibrary::RingLibrary(Compiler& compiler, const std::string& file, int ranks) {
  const Compiled compiled = compiler.SharedObject(ExerciseByName("ring"), "trainer_door.cc", file);
  if (compiled.path.empty())
    throw ErrorWithLines<BadInput>(fmt::format("[ring] {} does not compile:", file),
                                   compiled.messages);
  messages_ = compiled.messages;
  for (int rank = 0; rank < ranks; ++rank)
    functions_.push_back(Load(CopyFor(compiled.path, rank), file));
}

}  // namespace torus::tools::labs
