#include "tools/labs/build_it_yourself/grader/includes.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "tools/common/lines_below.h"
#include "tools/labs/build_it_yourself/grader/run_command.h"

namespace torus::tools::labs {
namespace {

namespace fs = std::filesystem;

// As it is on the disk; empty if there is none.
std::string Real(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? "" : real.string();
}

std::vector<std::string> HeadersIn(const std::vector<std::string>& folders) {
  std::vector<std::string> headers;
  for (const std::string& folder : folders)
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".h") headers.push_back(Real(entry.path()));
  return headers;
}

bool IsEscaped(std::string_view rest) {
  if (rest.size() < 2) return false;
  return rest[0] == '$' ? rest[1] == '$'
                        : rest[0] == '\\' && std::string_view(" \t#:").find(rest[1]) != rest.npos;
}

}  // namespace

// It lists them one to a line, behind a space. The lines around are in the user's language.
std::vector<std::string> SystemFolders() {
  const CommandEnd end = RunCommand({.words = {"g++", "-x", "c++", "-E", "-v", "/dev/null"}});
  std::vector<std::string> folders;
  std::istringstream lines(end.printed);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(' ') && fs::is_directory(line.substr(1)))
      folders.push_back(Real(line.substr(1)));
  if (folders.empty())
    throw ErrorWithLines<BrokenEnvironment>(
        "[grade] g++ does not say where the system's headers are:", end.printed);
  return folders;
}

std::vector<std::string> FilesOfRule(const std::string& rule) {
  std::vector<std::string> files(1);
  for (size_t i = rule.find(':') + 1; i < rule.size(); ++i) {
    const std::string_view rest = std::string_view(rule).substr(i);
    if (IsEscaped(rest))
      files.back() += rule[++i];
    else if (rest.starts_with("\\\n") || rest[0] == '\n' || rest[0] == ' ')
      files.emplace_back();
    else
      files.back() += rest[0];
    if (rest.starts_with("\\\n")) ++i;
  }
  std::erase(files, "");
  return files;
}

std::string OtherInclude(const std::vector<std::string>& files, const MayInclude& may) {
  std::vector<std::string> known = HeadersIn(may.lab);
  known.push_back(Real(may.source));
  for (const std::string& file : files) {
    const std::string real = Real(file);
    const auto below = [&](const std::string& folder) { return real.starts_with(folder + "/"); };
    if (real.empty() ||
        (std::ranges::find(known, real) == known.end() && std::ranges::none_of(may.system, below)))
      return file;
  }
  return "";
}

}  // namespace torus::tools::labs
