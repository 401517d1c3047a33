/* Emitted CUDA to an image for one kind of card. NVRTC is loaded when it is needed, so that a
 * program with cards runs where it is missing; images are kept on disk. */
#include "lang_gpu.cuh"

#include "gpu_library.cuh"
#include "lang_cache.h"
#include "lang_equation.h"
#include "lang_objects.h"

#include <nvrtc.h>
#include <stdio.h>
#include <string.h>

#define NO_NVRTC                                                                     \
  "no NVRTC (libnvrtc.so.13 or .12, of the CUDA Toolkit) is here to compile the %s " \
  "for cards; install it, run once where it is, or compute on sockets (run.device: cpu%s)"

enum { OPTIONS = 3, CARDS_MAX = 64 };

/* -------------------------------------------------------------------------------- the library */

/* Functions of NVRTC. */
struct nvrtc {
  decltype(&nvrtcVersion) version;
  decltype(&nvrtcGetNumSupportedArchs) n_archs;
  decltype(&nvrtcGetSupportedArchs) archs;
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcDestroyProgram) destroy;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetPTXSize) ptx_size;
  decltype(&nvrtcGetPTX) ptx;
  decltype(&nvrtcGetCUBINSize) cubin_size;
  decltype(&nvrtcGetCUBIN) cubin;
  decltype(&nvrtcGetProgramLogSize) log_size;
  decltype(&nvrtcGetProgramLog) log;
};

static nvrtc loaded_nvrtc;
static const tsl_gpu_function nvrtc_functions[] = {
    {"nvrtcVersion", &loaded_nvrtc.version},
    {"nvrtcGetNumSupportedArchs", &loaded_nvrtc.n_archs},
    {"nvrtcGetSupportedArchs", &loaded_nvrtc.archs},
    {"nvrtcCreateProgram", &loaded_nvrtc.create},
    {"nvrtcDestroyProgram", &loaded_nvrtc.destroy},
    {"nvrtcCompileProgram", &loaded_nvrtc.compile},
    {"nvrtcGetPTXSize", &loaded_nvrtc.ptx_size},
    {"nvrtcGetPTX", &loaded_nvrtc.ptx},
    {"nvrtcGetCUBINSize", &loaded_nvrtc.cubin_size},
    {"nvrtcGetCUBIN", &loaded_nvrtc.cubin},
    {"nvrtcGetProgramLogSize", &loaded_nvrtc.log_size},
    {"nvrtcGetProgramLog", &loaded_nvrtc.log},
};

static bool load_nvrtc(void) {
  for (int major : {13, 12}) {
    tsl_gpu_library library = {"nvrtc", major, nvrtc_functions,
                               sizeof nvrtc_functions / sizeof *nvrtc_functions};
    if (tsl_gpu_library_load(&library) == TSL_OK) return true;
  }
  return false;
}

/* Loaded once, for the life of the program; NULL: it is not here. */
static const nvrtc *the_nvrtc(void) {
  static const bool loaded = load_nvrtc();
  return loaded ? &loaded_nvrtc : NULL;
}

bool lang_has_nvrtc(const char **why) {
  const bool has = the_nvrtc() != NULL;
  if (why != NULL) *why = has ? NULL : "no NVRTC is here; install it (of the CUDA Toolkit)";
  return has;
}

/* ---------------------------------------------------------------------------------- options */

/* What a text is compiled for. */
struct target {
  bool ptx;
  char arch[48];
  const char *options[OPTIONS];
};

/* The newest architecture that this NVRTC knows and the card is not older than. */
static int newest_arch(const nvrtc *n, int capability) {
  int archs[CARDS_MAX], count = 0, best = 0;
  if (n->n_archs(&count) != NVRTC_SUCCESS || count <= 0 || count > CARDS_MAX ||
      n->archs(archs) != NVRTC_SUCCESS)
    return 0;
  for (int k = 0; k < count; k++)
    if (archs[k] <= capability && archs[k] > best) best = archs[k];
  return best;
}

static tsl_err choose_target(int capability, target *t) {
  tsl_err err = TSL_OK;
  const nvrtc *n = the_nvrtc();
  /* without NVRTC the cache may have what one that knows the card has made */
  const int arch = n != NULL ? newest_arch(n, capability) : capability;
  if (arch == 0)
    TSL_FAIL(TSL_ERR_INPUT, "NVRTC does not compile for cards of compute capability %d.%d",
             capability / 10, capability % 10);
  t->ptx = arch != capability;
  (void)snprintf(t->arch, sizeof t->arch, "--gpu-architecture=%s_%d", t->ptx ? "compute" : "sm",
                 arch);
  t->options[0] = t->arch;
  t->options[1] = "--std=c++17";
  t->options[2] = "--fmad=false"; /* each operation is rounded, as on sockets */
done:
  return err;
}

static tsl_err set_key(const lang_program *p, const target *t, lang_cache_key *key) {
  tsl_err err = TSL_OK;
  TSL_TRY(lang_cache_add_text(key, p->text));
  for (int k = 0; p->header_names[k] != NULL; k++)
    TSL_TRY(lang_cache_add_text(key, p->header_texts[k]));
  for (int k = 0; k < OPTIONS; k++) TSL_TRY(lang_cache_add_text(key, t->options[k]));
done:
  return err;
}

/* -------------------------------------------------------------------------------- compiling */

static tsl_err fail_compile(const nvrtc *n, const lang_purpose *purpose, nvrtcProgram program) {
  size_t bytes = 0;
  char *log = NULL;
  if (n->log_size(program, &bytes) == NVRTC_SUCCESS && bytes > 0 &&
      tsl_alloc((int64_t)bytes + 1, 1, "log", (void **)&log) == TSL_OK)
    (void)n->log(program, log);
  const tsl_err err =
      tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "NVRTC does not compile the %s: %.1500s",
               purpose->what, log != NULL ? log : "no reason given");
  tsl_free(log);
  return err;
}

/* The image of a compiled program; PTX with its closing zero. */
static tsl_err take_image(const nvrtc *n, nvrtcProgram program, bool ptx, void **image,
                          int64_t *bytes) {
  tsl_err err = TSL_OK;
  size_t size = 0;
  void *memory = NULL;
  if ((ptx ? n->ptx_size : n->cubin_size)(program, &size) != NVRTC_SUCCESS || size == 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "NVRTC gives no image");
  TSL_TRY(tsl_alloc((int64_t)size, 1, "image", &memory));
  if ((ptx ? n->ptx : n->cubin)(program, (char *)memory) != NVRTC_SUCCESS)
    TSL_FAIL(TSL_ERR_INTERNAL, "NVRTC gives no image");
  *image = memory;
  *bytes = (int64_t)size;
  memory = NULL;
done:
  tsl_free(memory);
  return err;
}

static tsl_err compile(const lang_program *p, const target *t, void **image, int64_t *bytes) {
  tsl_err err = TSL_OK;
  const nvrtc *n = the_nvrtc();
  nvrtcProgram program = NULL;
  int headers = 0;
  if (n == NULL) TSL_FAIL(TSL_ERR_INPUT, NO_NVRTC, p->purpose->what, p->purpose->without);
  while (p->header_names[headers] != NULL) headers++;
  if (n->create(&program, p->text, "text.cu", headers, p->header_texts, p->header_names) !=
      NVRTC_SUCCESS)
    TSL_FAIL(TSL_ERR_INTERNAL, "NVRTC does not take the text of the %s", p->purpose->what);
  if (n->compile(program, OPTIONS, t->options) != NVRTC_SUCCESS)
    TSL_TRY(fail_compile(n, p->purpose, program));
  TSL_TRY(take_image(n, program, t->ptx, image, bytes));
done:
  if (program != NULL) (void)n->destroy(&program);
  return err;
}

tsl_err lang_compile_gpu(const lang_program *p, int capability, void **image, int64_t *n) {
  tsl_err err = TSL_OK;
  target t = {};
  lang_cache_key key = {};
  *image = NULL;
  *n = 0;
  TSL_TRY(choose_target(capability, &t));
  TSL_TRY(set_key(p, &t, &key));
  TSL_TRY(lang_cache_take(&key, t.ptx ? ".ptx" : ".cubin", image, n));
  if (*image != NULL) goto done;
  TSL_TRY(compile(p, &t, image, n));
  TSL_TRY(lang_cache_keep(&key, t.ptx ? ".ptx" : ".cubin", *image, *n));
done:
  lang_cache_clear(&key);
  if (err != TSL_OK) {
    tsl_free(*image);
    *image = NULL;
  }
  return err;
}

tsl_err lang_gpu_prepare(tsl_problem *problem, const lang_program *program,
                         const tsl_device *devices, int n) {
  tsl_err err = TSL_OK;
  void *image = NULL;
  int64_t bytes = 0;
  for (int k = 0; k < n; k++) {
    const int32_t capability = devices[k].capability;
    const void *there = NULL;
    TSL_TRY(lang_objects_find(problem, LANG_FIELD_GPU, capability, &there, &bytes));
    if (there != NULL) continue;
    TSL_TRY(lang_compile_gpu(program, capability, &image, &bytes));
    TSL_TRY(lang_objects_put(problem, LANG_FIELD_GPU, capability, image, bytes));
    tsl_free(image);
    image = NULL;
  }
done:
  tsl_free(image);
  return err;
}

tsl_err lang_gpu_prepare_equation(tsl_problem *problem, const char *loops,
                                  const lang_purpose *purpose, const tsl_device *devices, int n) {
  static const char *const none[] = {NULL};
  tsl_err err = TSL_OK;
  char *text = NULL;
  lang_program program = {NULL, none, none, purpose};
  TSL_TRY(lang_fields_program(problem, "static __device__ __forceinline__", loops, &text));
  program.text = text;
  TSL_TRY(lang_gpu_prepare(problem, &program, devices, n));
done:
  tsl_free(text);
  return err;
}
