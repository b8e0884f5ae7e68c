#include "tests/layering/gpu_doors.h"

#include <algorithm>
#include <cctype>

#include "tests/layering/source_tokens.h"

namespace torus::layering {
namespace {

constexpr std::string_view kCall = "AtDoor(";

bool IsName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The arguments of the call whose parenthesis opens before `begin`.
std::string_view Arguments(std::string_view code, size_t begin) {
  int depth = 1;
  size_t end = begin;
  while (end < code.size() && depth > 0) {
    if (code[end] == '(') ++depth;
    if (code[end] == ')') --depth;
    ++end;
  }
  return code.substr(begin, end - begin - 1);
}

// The function's name stands before the parameters of its last "void NAME(".
std::string EnclosingFunction(std::string_view code) {
  const size_t word = code.rfind("void ");
  if (word == code.npos) return "";
  const size_t begin = word + 5;
  size_t end = begin;
  while (end < code.size() && IsName(code[end])) ++end;
  return std::string(code.substr(begin, end - begin));
}

bool Fits(const Excuse& excuse, std::string_view family, std::string_view door) {
  return excuse.family == family && (excuse.door == "*" || excuse.door == door);
}

}  // namespace

std::vector<Door> DoorsOf(std::string_view text) {
  const std::string code = CodeOf(text);
  const std::string_view view = code;
  std::vector<Door> doors;
  for (size_t at = view.find(kCall); at != view.npos; at = view.find(kCall, at + 1)) {
    const std::string_view arguments = Arguments(view, at + kCall.size());
    doors.push_back(
        {EnclosingFunction(view.substr(0, at)), arguments.find("StreamHandle") != arguments.npos});
  }
  return doors;
}

const std::vector<Excuse>& DoorsWithoutGpu() {
  static const std::vector<Excuse> excuses{
      {"conv_chain", "*", "composed of convolutions and batch norms on a GPU"},
  };
  return excuses;
}

std::vector<std::string> CheckDoors(std::string_view family, std::string_view text) {
  std::vector<std::string> wrong;
  const std::string path = "ops/" + std::string(family) + "/kernels.h: ";
  const std::vector<Door> doors = DoorsOf(text);
  for (const Door& door : doors) {
    const bool excused = std::ranges::any_of(
        DoorsWithoutGpu(), [&](const Excuse& excuse) { return Fits(excuse, family, door.name); });
    if (!door.gpu && !excused) wrong.push_back(path + door.name + " has no kernel for GPUs");
    if (door.gpu && excused)
      wrong.push_back(path + door.name + " has a kernel for GPUs, and an excuse for having none");
  }
  for (const Excuse& excuse : DoorsWithoutGpu()) {
    if (excuse.family != family) continue;
    if (std::ranges::none_of(doors, [&](const Door& d) { return Fits(excuse, family, d.name); }))
      wrong.push_back(path + "there is no door " + std::string(excuse.door) + " to excuse");
  }
  return wrong;
}

}  // namespace torus::layering
