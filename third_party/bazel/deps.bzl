"""All repositories that Torus needs, also of another workspace that has Torus as a local_repository (docs/embedding.md)."""

load("//third_party/bazel:system.bzl", "cuda_toolkit", "open_mpi", "own_folder", "system_files", "system_library")

# A workspace that has a repository of that name keeps its own; Bazel lets nobody define one twice.
def _unless_there(rule, name, **kwargs):
    if not native.existing_rule(name):
        rule(name = name, **kwargs)

def system_repositories(define):
    """Calls define(rule, name = NAME, ...) for each repository of a package of the system."""

    # System libraries, by the names of third_party/packages.txt.
    define(system_library, name = "fmt", hdrs = ["fmt"], linkopts = ["-lfmt"])

    define(system_library, name = "json", hdrs = ["nlohmann"])

    define(system_library, name = "cli11", hdrs = ["CLI"])

    define(system_library, name = "stb", hdrs = ["stb"])

    define(system_library, name = "zlib", hdrs = ["zlib.h", "zconf.h"], linkopts = ["-lz"])

    define(system_library, name = "jpeg", hdrs = ["jconfig.h", "jerror.h", "jmorecfg.h", "jpeglib.h"], linkopts = ["-ljpeg"])

    define(system_library, name = "webp", hdrs = ["webp"], linkopts = ["-lwebpdemux", "-lwebp"])

    define(system_library, name = "tiff", hdrs = ["tiff.h", "tiffconf.h", "tiffio.h", "tiffvers.h"], linkopts = ["-ltiff"])

    define(system_library, name = "pcre2", hdrs = ["pcre2.h"], linkopts = ["-lpcre2-8"])

    # Kernels of ours use no AES: without it x86-64-v3 is the baseline, and the variants below it are not compiled.
    define(
        system_library,
        name = "highway",
        hdrs = ["hwy"],
        defines = ["HWY_DISABLE_PCLMUL_AES"],
        linkopts = ["-lhwy"],
    )

    define(system_library, name = "onednn", hdrs = ["oneapi", "dnnl.h", "dnnl.hpp"], linkopts = ["-ldnnl"])

    # The runtime of messages without reflection, for tools/convert/onnx alone.
    define(system_library, name = "protobuf", hdrs = ["google"], linkopts = ["-lprotobuf-lite"])

    define(system_library, name = "seccomp", hdrs = ["seccomp.h"], linkopts = ["-lseccomp"])

    define(system_library, name = "eigen", hdrs = ["eigen3"], include = "eigen3")

    define(system_library, name = "gtest", hdrs = ["gtest", "gmock"], linkopts = ["-lgmock", "-lgtest", "-lpthread"])

    define(system_library, name = "benchmark", hdrs = ["benchmark"], linkopts = ["-lbenchmark", "-lpthread"])

    # Chart.js (libjs-chart.js), which the report page carries inlined.
    define(system_files, name = "chartjs", folder = "/usr/share/javascript/chart.js", files = ["chart.min.js"])

    define(open_mpi, name = "mpi")

    define(cuda_toolkit, name = "cuda")

def torus_deps():
    """To be called in WORKSPACE. Nothing is downloaded: everything is a package of Debian's or Ubuntu's, or a folder of Torus."""

    # Bazel's own needs, from Debian's packages and two stubs: nothing is downloaded.
    _unless_there(native.local_repository, name = "rules_java", path = "/usr/share/bazel/rules/java")

    _unless_there(native.local_repository, name = "rules_proto", path = "/usr/share/bazel/rules/proto")

    _unless_there(native.local_repository, name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")

    _unless_there(own_folder, name = "rules_cc", folder = "third_party/rules_cc")

    _unless_there(own_folder, name = "remote_coverage_tools", folder = "third_party/coverage")

    system_repositories(_unless_there)
