// Which symbols of a library are public: those whose every name is written in a public header.
//   nm -g --defined-only -P ARCHIVE | list_symbols HEADERS_FOLDER [TEMPLATE...]
// Prints their mangled names, sorted. So what only sources name, or a header that is not installed,
// is hidden, as are the namespaces of kernels and internals. Functions of templates are the
// program's own, but for those of each TEMPLATE, which only sources define.
#include <cxxabi.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace {

using Words = std::unordered_set<std::string>;

bool InWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The identifiers in a file, without those in comments.
void AddWords(const fs::path& file, Words& words) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.size(), line.find("//")));
    std::string word;
    for (const char c : line + ' ') {
      if (InWord(c)) {
        word += c;
      } else if (!word.empty()) {
        words.insert(std::exchange(word, ""));
      }
    }
  }
}

Words WordsBelow(const fs::path& folder) {
  Words words;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) AddWords(entry.path(), words);
  return words;
}

std::string Demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : "";
}

// "torus::ops::Add" of "torus::Tensor torus::ops::Add<float>(torus::Tensor const&)": without what
// is between <>, without parameters and result.
std::string QualifiedName(const std::string& demangled) {
  std::string name;
  int depth = 0;
  for (size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    const bool after_operator = name.ends_with("operator");
    if (c == '<' && !after_operator) ++depth;
    if (depth == 0) {
      if (c == '(' && !after_operator && !demangled.substr(i).starts_with("(anonymous")) break;
      name += c;
    }
    if (c == '>' && depth > 0) --depth;
  }
  const size_t result = name.find(" torus::");
  return result == std::string::npos ? name : name.substr(result + 1);
}

std::vector<std::string> Parts(const std::string& name) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find("::", begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 2;
  }
  return parts;
}

bool IsPublic(const std::string& symbol, const Words& words) {
  static const Words hidden{"internal", "kernels", "cpu", "cuda"};
  const std::vector<std::string> parts = Parts(QualifiedName(Demangled(symbol)));
  if (parts.size() < 2 || parts[0] != "torus") return false;
  for (size_t i = 1; i < parts.size(); ++i) {
    std::string part = parts[i];
    if (part.starts_with("operator")) continue;
    if (part.starts_with("~")) part.erase(0, 1);
    part.resize(std::min(part.size(), part.find('[')));  // an ABI tag
    if (hidden.contains(part) || !words.contains(part)) return false;
  }
  return true;
}

// What a program that includes the headers does not make itself, or should share: inline functions
// are its own, but there is one object of an inline variable, and one type of a class.
bool IsShared(char type, const std::string& symbol, const std::set<std::string>& templates) {
  if (type == 'W') return templates.contains(QualifiedName(Demangled(symbol)));
  const bool local_static = symbol.starts_with("_ZZ") || symbol.starts_with("_ZGV");
  if (type == 'V' || type == 'u') return !local_static;
  return std::string("TDBR").find(type) != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr
        << "usage: nm -g --defined-only -P ARCHIVE | list_symbols HEADERS_FOLDER [TEMPLATE...]\n";
    return 2;
  }
  const Words words = WordsBelow(argv[1]);
  const std::set<std::string> templates(argv + 2, argv + argc);
  std::set<std::string> symbols;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream columns(line);
    std::string symbol;
    char type = 0;
    if (columns >> symbol >> type && IsShared(type, symbol, templates) && IsPublic(symbol, words))
      symbols.insert(symbol);
  }
  for (const std::string& symbol : symbols) std::cout << symbol << '\n';
}
