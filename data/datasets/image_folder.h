// Image folders: a folder a class, as torchvision's ImageFolder has them, and Food-101.
#pragma once

#include <memory>
#include <string>

#include "data/datasets/image_files.h"

namespace torus::data {

// Below `dir`/train, or `dir`/test (`dir`/val where there is no test): a folder a class, named as
// it, classes numbered by name in byte order; the images of a class are the regular files ending in
// .jpg .jpeg .png .bmp .ppm .pgm (in either case) at any depth in its folder, by path. Both splits
// have the classes of `train`. Normalisation: ImageNet's (mean 0.485, 0.456, 0.406, std 0.229,
// 0.224, 0.225).
//
// Bad images are left out (ImageFiles). BadInput naming the folder where there is no good one, or
// one of its classes where `train` lacks it.
std::unique_ptr<ImageFiles> OpenImageFolder(const std::string& dir, Split split);

// Food-101 (Bossard, Guillaumin, Van Gool, "Food-101: mining discriminative components with random
// forests", 2014) as it is published: `dir`/meta/classes.txt has a class a line, meta/train.txt and
// meta/test.txt a line CLASS/NAME for images/CLASS/NAME.jpg. Normalisation as above. BadInput
// naming file and line where a line has another form.
std::unique_ptr<ImageFiles> OpenFood101(const std::string& dir, Split split);

}  // namespace torus::data
