#include "tools/train/resume_hint.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace torus::tools {
namespace {

std::string Quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("/._-+=:,@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string Program(const std::string& program) {
  if (const char* const started = std::getenv("TORUS_STARTED_AS")) return started;
  const char* const processes = std::getenv("OMPI_COMM_WORLD_SIZE");
  return (processes == nullptr ? "" : "mpirun -n " + std::string(processes) + " ") +
         Quoted(program);
}

}  // namespace

std::string ResumeCommand(const std::string& program, const std::string& folder) {
  return Program(program) + " --resume " + Quoted(folder);
}

}  // namespace torus::tools
