#include "tools/labs/build_it_yourself/grader/compiler.h"

#include <filesystem>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "tools/common/lines_below.h"
#include "tools/labs/build_it_yourself/grader/includes.h"
#include "tools/labs/build_it_yourself/grader/run_command.h"

namespace torus::tools::labs {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kNotCompiled = "it does not compile";

void Append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

void RequireFile(const std::string& file) {
  Require(!std::filesystem::is_directory(file), "grade",
          "{} is a folder: name your source file in it", file);
  Require(std::filesystem::is_regular_file(file), "grade", "there is no file {}", file);
}

}  // namespace

// No -march: the same bits on every machine. No contraction into fused multiply-adds: the sums'
// order is graded bit by bit.
Words Compiler::Flags(const std::string& folder) const {
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
          labs_ + "/" + folder,
          "-pthread",
          "-fPIC"};
}

CommandEnd Compiler::Compile(Words words, const Words& more) const {
  Append(words, more);
  return RunCommand({.words = words, .temporary = scratch_.path()});
}

std::string Compiler::NewPath() { return fmt::format("{}/{}", scratch_.path(), made_++); }

std::string Compiler::OwnObject(const std::string& folder, const std::string& source) {
  const std::string path = fmt::format("{}/{}/{}", labs_, folder, source),
                    object = NewPath() + ".o";
  const CommandEnd end = Compile(Flags(folder), {"-c", path, "-o", object});
  if (!end.ok)
    throw ErrorWithLines<BrokenEnvironment>(
        fmt::format("[grade] g++ does not compile the labs' own {}:", path), end.printed);
  return object;
}

const Words& Compiler::RankObjects() {
  if (!rank_objects_.empty()) return rank_objects_;
  Words objects;
  for (const char* source : {"rank.cc", "rank_main.cc", "count_memory.cc"})
    objects.push_back(OwnObject("rank", source));
  return rank_objects_ = objects;
}

const std::string& Compiler::DriverOf(const Exercise& exercise) {
  const auto found = drivers_.find(exercise.folder);
  if (found != drivers_.end()) return found->second;
  return drivers_[exercise.folder] = OwnObject(exercise.folder, "driver.cc");
}

std::string Compiler::OtherInclude(const Exercise& exercise, const std::string& file,
                                   const std::string& rule) {
  if (system_folders_.empty()) system_folders_ = SystemFolders();
  return labs::OtherInclude(
      FilesOfRule(io::InputFile(rule).ReadAll()),
      {file, {labs_ + "/rank", labs_ + "/" + exercise.folder}, system_folders_});
}

// The rule lists the system's headers too (-MD, not -MMD): a file can declare itself one of them.
Compiled Compiler::Program(const Exercise& exercise, const std::string& file) {
  RequireFile(file);
  Words link = RankObjects();
  link.push_back(DriverOf(exercise));
  const std::string path = NewPath(), object = path + ".o", rule = path + ".d";
  const CommandEnd end = Compile(Flags(exercise.folder), {"-x", "c++", "-c", file, "-o", object,
                                                          "-MD", "-MT", "object", "-MF", rule});
  if (!end.ok) return {"", end.printed, kNotCompiled};
  if (const std::string other = OtherInclude(exercise, file, rule); !other.empty())
    return {
        "", end.printed,
        fmt::format("it includes {}, which is not a header of this lab or of the system", other)};
  Append(link, {object, "-o", path});
  const CommandEnd linked = Compile(Flags(exercise.folder), link);
  return {linked.ok ? path : "", end.printed + linked.printed, linked.ok ? "" : kNotCompiled};
}

Compiled Compiler::SharedObject(const Exercise& exercise, const std::string& adapter,
                                const std::string& file) {
  RequireFile(file);
  const std::string path = NewPath() + ".so";
  const CommandEnd end =
      Compile(Flags(exercise.folder),
              {"-shared", "-fno-gnu-unique", "-Wl,-z,defs", "-Wl,-Bsymbolic-functions",
               labs_ + "/" + exercise.folder + "/" + adapter, file, "-o", path});
  return {end.ok ? path : "", end.printed, end.ok ? "" : kNotCompiled};
}

}  // namespace torus::tools::labs
