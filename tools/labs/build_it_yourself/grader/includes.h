// Which files a graded file may include: itself, headers of its lab and those of the system. Any
// other may be the solution. What the assembler reads (asm with .include or .incbin) is not listed
// by the compiler, so it is not covered.
#pragma once

#include <string>
#include <vector>

namespace torus::tools::labs {

// Of the compiler and the system, as g++ names them. Throws BrokenEnvironment if it names none.
std::vector<std::string> SystemFolders();

// The files in a rule that the compiler writes for make (-MD -MT x): the source and all that it
// includes, those of the system too.
std::vector<std::string> FilesOfRule(const std::string& rule);

struct MayInclude {
  std::string source;
  std::vector<std::string> lab;     // folders: the headers in them
  std::vector<std::string> system;  // folders: all that is below them
};
// The first of `files` that is no such file. Links and ".." are followed. Empty if there is none.
std::string OtherInclude(const std::vector<std::string>& files, const MayInclude& may);

}  // namespace torus::tools::labs
