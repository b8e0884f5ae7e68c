"""All repositories that Torus needs, also of another workspace that has Torus as a local_repository (docs/embedding.md)."""

load("//third_party/bazel:system.bzl", "cuda_toolkit", "open_mpi", "own_folder", "system_library")

def torus_deps():
    """To be called in WORKSPACE. Nothing is downloaded: everything is a package of Debian's or Ubuntu's, or a folder of Torus."""

    # Bazel's own needs, from Debian's packages and two stubs: nothing is downloaded.
    native.local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")

    native.local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")

    native.local_repository(name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")

    own_folder(name = "rules_cc", folder = "third_party/rules_cc")

    own_folder(name = "remote_coverage_tools", folder = "third_party/coverage")

    # System libraries, by the names of third_party/packages.txt.
    system_library(name = "fmt", hdrs = ["fmt"], linkopts = ["-lfmt"])

    system_library(name = "json", hdrs = ["nlohmann"])

    system_library(name = "cli11", hdrs = ["CLI"])

    system_library(name = "stb", hdrs = ["stb"])

    system_library(name = "zlib", hdrs = ["zlib.h", "zconf.h"], linkopts = ["-lz"])

    system_library(name = "jpeg", hdrs = ["jconfig.h", "jerror.h", "jmorecfg.h", "jpeglib.h"], linkopts = ["-ljpeg"])

    system_library(name = "webp", hdrs = ["webp"], linkopts = ["-lwebpdemux", "-lwebp"])

    system_library(name = "tiff", hdrs = ["tiff.h", "tiffconf.h", "tiffio.h", "tiffvers.h"], linkopts = ["-ltiff"])

    system_library(name = "pcre2", hdrs = ["pcre2.h"], linkopts = ["-lpcre2-8"])

    # Kernels of ours use no AES: without it x86-64-v3 is the baseline, and the variants below it are not compiled.
    system_library(
        name = "highway",
        hdrs = ["hwy"],
        defines = ["HWY_DISABLE_PCLMUL_AES"],
        linkopts = ["-lhwy"],
    )

    system_library(name = "onednn", hdrs = ["oneapi", "dnnl.h", "dnnl.hpp"], linkopts = ["-ldnnl"])

    # The runtime of messages without reflection, for tools/convert/onnx alone.
    system_library(name = "protobuf", hdrs = ["google"], linkopts = ["-lprotobuf-lite"])

    system_library(name = "seccomp", hdrs = ["seccomp.h"], linkopts = ["-lseccomp"])

    system_library(name = "eigen", hdrs = ["eigen3"], include = "eigen3")

    system_library(name = "gtest", hdrs = ["gtest", "gmock"], linkopts = ["-lgmock", "-lgtest", "-lpthread"])

    system_library(name = "benchmark", hdrs = ["benchmark"], linkopts = ["-lbenchmark", "-lpthread"])

    # Chart.js (libjs-chart.js), which the report page carries inlined.
    native.new_local_repository(
        name = "chartjs",
        path = "/usr/share/javascript/chart.js",
        build_file_content = "exports_files([\"chart.min.js\"])",
    )

    open_mpi(name = "mpi")

    cuda_toolkit(name = "cuda")
