// The programs train and codec as an application has them that adds a codec of its own:
//   own_programs train|codec FLAGS...
#include <cstdio>
#include <string>

#include "tests/application/own_parts.h"
#include "tools/codec/codec.h"
#include "tools/train/train.h"

int main(int argc, char** argv) {
  const std::string program = argc > 1 ? argv[1] : "";
  application::AddHalfCodec();
  if (program == "train") return torus::tools::TrainMain(argc - 1, argv + 1);
  if (program == "codec") return torus::tools::CodecMain(argc - 1, argv + 1);
  std::fputs("usage: own_programs train|codec FLAGS\n", stderr);
  return 2;
}
