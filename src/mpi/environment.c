/* Variables for libraries: before constructors, before main goes on, before MPI begins. */
#include "environment.h"

#include "cpu.h"

#include <cblas.h>
#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------- before constructors */

/* Is name set in environment? Without the C library, which is not ready yet. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static bool
has_name(char *const *environment, const char *name) {
  for (; *environment != NULL; environment++) {
    size_t k = 0;
    while (name[k] != '\0' && (*environment)[k] == name[k]) k++;
    if (name[k] == '\0' && (*environment)[k] == '=') return true;
  }
  return false;
}

/* The C library will take the array of pointers that the kernel has laid down, in which there is no
 * room. Behind its NULL lies the auxiliary vector (System V ABI, AMD64 supplement, section 3.4.1,
 * "Initial Stack and Register State"), pairs of words of which the dynamic linker has read all by
 * now. AT_CLKTCK says what sysconf knows too. The first pair moves to its place, and leaves its own
 * to two more variables; one alone is there twice, so that no word of type AT_NULL stands where
 * getauxval begins. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
add_variables(int argc, char **argv, char **environment) {
  static char passive[] = "OMP_WAIT_POLICY=passive", one[] = "OPENBLAS_NUM_THREADS=1";
  const bool waits =
      has_name(environment, "OMP_WAIT_POLICY") || has_name(environment, "GOMP_SPINCOUNT");
  const bool threads =
      has_name(environment, "OPENBLAS_NUM_THREADS") || has_name(environment, "GOTO_NUM_THREADS");
  char **end = environment;
  (void)argc, (void)argv;
  if (waits && threads) return;
  while (*end != NULL) end++;
  ElfW(auxv_t) *first = (ElfW(auxv_t) *)(void *)(end + 1), *spare = first;
  while (spare->a_type != AT_CLKTCK && spare->a_type != AT_NULL) spare++;
  if (spare->a_type != AT_CLKTCK) return;
  *spare = *first;
  end[0] = waits ? one : passive;
  end[1] = threads ? passive : one;
  end[2] = NULL;
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **, char **) = add_variables;

/* ----------------------------------------------------------------- in main */

/* OpenBLAS chooses kernels with these in its constructor; not in its header. Absent where it was
 * built for one processor. */
extern void gotoblas_dynamic_quit(void) __attribute__((weak));
extern void gotoblas_dynamic_init(void) __attribute__((weak));

/* OpenBLAS has kernels for the processors of its time; newer ones get those of Prescott, without
 * AVX, which are a fifth as fast as what the processor could do. */
static void choose_kernels(void) {
  const int level = tsl_cpu_level();
  const char *kernels = level == 4 ? "SkylakeX" : level == 3 ? "Haswell" : NULL;
  if (gotoblas_dynamic_quit == NULL || gotoblas_dynamic_init == NULL) return;
  if (kernels == NULL || strcmp(openblas_get_corename(), "Prescott") != 0) return;
  if (getenv("OPENBLAS_CORETYPE") != NULL || setenv("OPENBLAS_CORETYPE", kernels, 0) != 0) return;
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
}

void tsl_environment_settle(void) {
  choose_kernels();
  if (getenv("OMP_WAIT_POLICY") == NULL && getenv("GOMP_SPINCOUNT") == NULL)
    fputs("tesela: warning: threads that wait will spin; set OMP_WAIT_POLICY=passive\n", stderr);
}

/* -------------------------------------------------------------------- for MPI */

static bool is_open_mpi_4(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  return MPI_Get_library_version(version, &length) == MPI_SUCCESS &&
         strstr(version, "Open MPI v4.") != NULL;
}

/* Was this process started by mpirun, srun or the like? */
static bool is_launched(void) {
  static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE",
                                      "PMIX_NAMESPACE",
                                      "PMIX_RANK",
                                      "PMI_RANK",
                                      "PMI_FD",
                                      "SLURM_STEP_ID",
                                      NULL};
  for (const char *const *mark = marks; *mark != NULL; mark++)
    if (getenv(*mark) != NULL) return true;
  return false;
}

/* What Open MPI 4 is better told.
 * Counters that ranks advance need windows over nodes. Distributions switch off the one component
 * that has them on plain networks (Debian: osc = ^ucx,pt2pt).
 * A process started by hand needs neither daemon nor network, whose search takes several times as
 * long as a small run (0.4 s; without: 0.07 s). Without a daemon all such processes of a user would
 * share one folder of sessions, which one makes while another removes it; nothing needs it. */
static void advise_open_mpi(void) {
  if (!is_open_mpi_4()) return;
  (void)setenv("OMPI_MCA_osc", "sm,rdma,pt2pt", 0);
  if (is_launched()) return;
  (void)setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  (void)setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
  (void)setenv("OMPI_MCA_pml", "ob1", 0);
  (void)setenv("OMPI_MCA_btl", "self", 0);
}

/* For MPI hwloc lists the devices of all drivers that it knows, and starts CUDA to do so: 0.6 s on
 * a host of two H200s, in a run on sockets, too. Nobody here asks it for cards. And it goes to each
 * processor to ask what the kernel has told it, where there is no place while others compute. */
#define NO_DEVICES "-cuda,-nvml,-rsmi,-levelzero,-opencl,-gl"
#define NO_VISITS "-x86," NO_DEVICES

void tsl_environment_before_mpi(void) {
  advise_open_mpi();
  (void)setenv("HWLOC_COMPONENTS", NO_VISITS, 0);
}

void tsl_environment_after_mpi(void) {
  const char *components = getenv("HWLOC_COMPONENTS");
  if (components != NULL && strcmp(components, NO_VISITS) == 0)
    (void)setenv("HWLOC_COMPONENTS", NO_DEVICES, 1);
}
