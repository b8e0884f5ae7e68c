// The files of the study page, compiled into the program.
#pragma once

#include <string_view>

namespace torus::study {

extern const std::string_view kStudyHtml, kStudyScript;

}  // namespace torus::study
