# Spack recipe. To try it from a clone: spack repo create myrepo; copy this file to
# myrepo/packages/tesela/package.py; spack dev-build tesela@main from the clone's folder.
from spack.package import *


class Tesela(CMakePackage, CudaPackage):
    """Irregular-domain work (all pairs, dynamic programming, Kohn-Sham DFT, escape-time fractals)
    on every GPU and CPU socket of a job."""

    license("BSD-3-Clause")

    version("main")

    variant("xc", default=True, description="Family xc: Kohn-Sham energies of molecules")
    variant("tests", default=False, description="Build the test programs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("hdf5@1.10:+mpi+hl")
    depends_on("hwloc@2:")
    depends_on("libyaml")
    depends_on("libcyaml")
    depends_on("libpng")
    depends_on("openblas")
    depends_on("zlib-api")
    depends_on("cuda@12:", when="+cuda")
    with when("+xc"):
        depends_on("libint@2.6: tune=molgw-lmax-4")
        depends_on("libxc@5:")
        depends_on("jansson")
        depends_on("netlib-lapack+lapacke", when="^openblas@:0.2")
    depends_on("cmocka", when="+tests", type="build")
    depends_on("python@3.9:", type=("run", "test"))
    depends_on("py-h5py", type=("run", "test"))
    depends_on("py-numpy", type=("run", "test"))
    depends_on("py-matplotlib", type=("run", "test"))

    conflicts("cuda_arch=none", when="+cuda", msg="tesela needs cuda_arch, for instance 80 or 90")
    conflicts("cuda_arch=70", msg="cards from sm_75 on")

    def cmake_args(self):
        args = [
            self.define("TSL_HDF5", "PARALLEL"),
            self.define("TSL_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define_from_variant("TSL_XC", "xc"),
            self.define_from_variant("TSL_TESTS", "tests"),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args

    def test_run(self):
        """a histogram of pair distances on one rank"""
        tesela = which(self.prefix.bin.tesela)
        deck = join_path(self.prefix.share, "tesela", "inputs", "tri", "rdf.yaml")
        tesela("run", deck, "-s", "tri.generator.n=1000", "-o", "rdf.h5", "--quiet")
        out = tesela("show", "rdf.h5", output=str.split, error=str.split)
        verdict = [line.split()[1] for line in out.splitlines() if line.startswith("verdict")]
        assert verdict == ["VALID"], out
