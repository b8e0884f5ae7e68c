// Image folders: one folder per class, like torchvision's ImageFolder, and Food-101.
#pragma once

#include <memory>
#include <string>

#include "data/datasets/image_files.h"

namespace torus::data {

// Reads `dir`/train, or `dir`/test (if there is no test: val, valid or validation). It has one
// folder per class; classes are numbered by folder name in byte order. class_folders.h says which
// folders are classes, which files are their images, and what is passed over. Both splits have the
// classes of `train`. Normalisation: ImageNet's (mean 0.485, 0.456, 0.406, std 0.229, 0.224,
// 0.225).
//
// Bad images are left out (ImageFiles). Throws BadInput naming the folder if there is no such
// folder or more than one, if it has no good image, or if it has a class that `train` lacks.
std::unique_ptr<ImageFiles> OpenImageFolder(const std::string& dir, Split split);

// Food-101 (Bossard, Guillaumin, Van Gool, "Food-101: mining discriminative components with random
// forests", 2014) as published: `dir`/meta/classes.txt has one class per line; meta/train.txt and
// meta/test.txt have one line CLASS/NAME for each images/CLASS/NAME.jpg. All of it may also be in
// `dir`/food-101, where the archive puts it. Normalisation as above. Throws BadInput
// naming file and line if a line has another form.
std::unique_ptr<ImageFiles> OpenFood101(const std::string& dir, Split split);

}  // namespace torus::data
