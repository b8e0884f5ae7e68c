#include "tools/labs/build_it_yourself/grader/compiler.h"

#include <filesystem>

#include "runtime/error.h"
#include "tools/labs/build_it_yourself/grader/run_command.h"

namespace torus::tools::labs {
namespace {

using Words = std::vector<std::string>;

void Append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

CommandEnd Compile(Words words, const Words& more) {
  Append(words, more);
  return RunCommand({.words = words});
}

void RequireFile(const std::string& file) {
  Require(std::filesystem::is_regular_file(file), "grade", "there is no file {}", file);
}

}  // namespace

// No -march: the same bits on every machine. No contraction into fused multiply-adds: the sums'
// order is graded bit by bit.
Words Compiler::Flags(const Exercise& exercise) const {
  return {"g++",
          "-std=c++20",
          "-O1",
          "-g",
          "-Wall",
          "-Wextra",
          "-ffp-contract=off",
          "-I",
          labs_ + "/rank",
          "-I",
          labs_ + "/" + exercise.folder,
          "-pthread",
          "-fPIC"};
}

std::string Compiler::NewPath() { return fmt::format("{}/{}", scratch_.path(), made_++); }

const Words& Compiler::DriverOf(const Exercise& exercise) {
  const auto [at, fresh] = drivers_.try_emplace(exercise.name);
  if (!fresh) return at->second;
  Words objects;
  const std::string driver = fmt::format("{}/{}/driver.cc", labs_, exercise.folder);
  for (const std::string& source : {labs_ + "/rank/rank.cc", labs_ + "/rank/rank_main.cc",
                                    labs_ + "/rank/count_memory.cc", driver}) {
    objects.push_back(NewPath() + ".o");
    const CommandEnd end = Compile(Flags(exercise), {"-c", source, "-o", objects.back()});
    if (!end.ok) {
      drivers_.erase(at);
      Throw<BrokenEnvironment>("grade", "g++ does not compile the labs' own {}:\n{}", source,
                               end.printed);
    }
  }
  return at->second = objects;
}

Compiled Compiler::Program(const Exercise& exercise, const std::string& file) {
  RequireFile(file);
  Words rest = DriverOf(exercise);
  const std::string path = NewPath();
  Append(rest, {file, "-o", path});
  const CommandEnd end = Compile(Flags(exercise), rest);
  return {end.ok ? path : "", end.printed};
}

Compiled Compiler::SharedObject(const Exercise& exercise, const std::string& adapter,
                                const std::string& file) {
  RequireFile(file);
  const std::string path = NewPath() + ".so";
  const CommandEnd end = Compile(
      Flags(exercise), {"-shared", "-fno-gnu-unique", "-Wl,-z,defs", "-Wl,-Bsymbolic-functions",
                        labs_ + "/" + exercise.folder + "/" + adapter, file, "-o", path});
  return {end.ok ? path : "", end.printed};
}

}  // namespace torus::tools::labs
