#include "tools/codec/codec.h"

int main(int argc, char** argv) { return torus::tools::CodecMain(argc, argv); }
