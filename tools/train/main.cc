#include "tools/train/train.h"

int main(int argc, char** argv) { return torus::tools::TrainMain(argc, argv); }
