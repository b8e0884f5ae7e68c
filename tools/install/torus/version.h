// The version of Torus, by semver.org: from 1.0.0 on only a new first number removes or changes
// what docs/api.md calls public; before, a new second one may.
#pragma once

#define TORUS_VERSION_MAJOR 0
#define TORUS_VERSION_MINOR 1
#define TORUS_VERSION_PATCH 0
#define TORUS_VERSION "0.1.0"
