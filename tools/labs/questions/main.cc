// The program of every lab: its file's name says which one it is, "q1".
#include <filesystem>

#include "tools/common/run_main.h"
#include "tools/labs/questions/lab.h"

int main(int argc, char** argv) {
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  return torus::tools::RunMain(name.c_str(),
                               [&] { return torus::labs::LabMain(name, argc, argv); });
}
