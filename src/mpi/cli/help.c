/* Texts of the subcommands, printed whole; keys of `run:`, `output:` and the families, printed from
 * the tables that bind the deck. */
#include "help.h"

#include "probe_run.h"
#include "settings.h"
#include "show.h"
#include "version.h"

#include <stdio.h>
#include <string.h>

#define DECK_OPTIONS                                               \
  "  -s, --set KEY=VALUE override a key of the deck; repeatable\n" \
  "  --interpret         family dp: as if the run were given it\n" \
  "  -q, --quiet         results and errors only\n"

static const struct {
  const char *topic, *text;
} texts[] = {
    {"",
     "tesela " TSL_VERSION " - irregular-domain work on every GPU and CPU socket of a job\n"
     "\n"
     "usage: tesela run DECK        deck -> units -> plan -> ranks -> HDF5\n"
     "       tesela serve DECK      one job for many geometries: i-PI, ASE, QCSchema\n"
     "       tesela plan DECK       units, predicted seconds and bytes per rank\n"
     "       tesela devices         who would sit where\n"
     "       tesela calibrate DECK  measure the devices on this deck's units\n"
     "       tesela rates DECK      passes a day on every device calibrated so far: what to buy\n"
     "       tesela probe           what optimisation advice is worth on these devices\n"
     "       tesela bench NAME      measure kernels beside their peers (no NAME: list)\n"
     "       tesela show FILE       what an output file holds\n"
     "       tesela help TOPIC      a subcommand, a family, run-keys or output-keys\n"
     "       tesela --version\n"
     "\n"
     "A DECK is YAML, or JSON: for family xc a QCSchema input or molecule (tesela run FILE.json).\n"
     "Start it alone (one rank), with mpirun or with srun: one rank for each GPU or socket.\n"
     "Exit status: 0 valid, 2 bad input or usage, 3 run-time failure or stopped, 85 stopped\n"
     "early with a checkpoint (SIGTERM, SIGUSR1, --max-walltime): go on with --restart.\n"},
    {"run",
     "usage: [mpirun -n RANKS] tesela run DECK [options]\n"
     "\n"
     "  DECK                YAML; or FILE.json, QCSchema, for family xc with what --set adds\n"
     "  -o, --output FILE   HDF5 output; default: the deck's name with .h5\n"
     "  --overwrite         replace existing files: the output when the run has succeeded, "
     "traces,\n"
     "                      pictures and other files beside it; never an input\n"
     "  --strict            exit status 3 when a file beside the output cannot be written "
     "(default:\n"
     "                      a warning; the results are kept either way)\n"
     "  -s, --set KEY=VALUE override a key of the deck, such as tri.bins=400; repeatable\n"
     "  --interpret         family dp: compute a recurrence without compiling it (slow)\n"
     "  --trace FILE        write a Chrome/Perfetto trace (JSON) of all ranks\n"
     "  --restart FILE      go on from a checkpoint of this deck, on any ranks and devices;\n"
     "                      FILE: the output's name, or one of its checkpoints .ckpt.0 .ckpt.1\n"
     "  --max-walltime H:MM:SS  stop with a checkpoint before that time is over\n"
     "                      (default: the end of the job, where Slurm tells it)\n"
     "  -q, --quiet         results and errors only\n"
     "\n"
     "Keys of a deck: tesela help FAMILY, tesela help run-keys, tesela help output-keys\n"},
    {"serve",
     "usage: [mpirun -n RANKS] tesela serve DECK --ipi ADDRESS | --mdi ADDRESS | --qcschema "
     "[options]\n"
     "\n"
     "Family xc. Answers geometry after geometry with energy and forces; each begins with the\n"
     "density of the one before. No output, checkpoints or other files are written.\n"
     "\n"
     "  --ipi ADDRESS       connect to a server of i-PI's protocol (i-PI, ASE's\n"
     "                      SocketIOCalculator): unix:NAME, the socket /tmp/ipi_NAME (with '/':\n"
     "                      that path), or tcp:HOST:PORT, of this host unless the deck has\n"
     "                      serve: {remote: yes, token: FILE}. The deck says the atoms and\n"
     "                      their order\n"
     "  --mdi ADDRESS       be an engine of MDI, the MolSSI Driver Interface: connect to the\n"
     "                      driver at tcp:HOST:PORT, of this host. The deck says the atoms\n"
     "  --qcschema          read AtomicInput from standard input, an object a line, and write\n"
     "                      AtomicResult or FailedOperation to standard output likewise\n"
     "  -s, --set KEY=VALUE override a key of the deck; repeatable\n"
     "  -q, --quiet         warnings and errors only; else a line a geometry to standard error\n"
     "\n"
     "Exit status: 0 the other side has ended it, 2 it sent what makes no sense, 3 it is gone,\n"
     "or a run-time failure. With --qcschema a line that fails is answered, and the job goes\n"
     "on.\n"},
    {"plan", "usage: [mpirun -n RANKS] tesela plan DECK [options]\n"
             "\n"
             "Cuts the work, predicts and plans, and prints it. Devices that are not in the\n"
             "calibration file are measured for about a second at most; nothing else is computed.\n"
             "\n"
             "  --cluster FILE      plan for nodes that are not here: for each number of nodes in\n"
             "                      FILE time, speed-up, idle part, memory, bytes between nodes,\n"
             "                      and Amdahl's and Gustafson's serial fractions. Devices are\n"
             "                      those of the calibration file; nothing is measured. Keys of\n"
             "                      FILE: docs/operations.md\n"
             "  --restart FILE      plan what the checkpoint of a run leaves to do\n"
             "\n" DECK_OPTIONS},
    {"devices", "usage: [mpirun -n RANKS] tesela devices\n"
                "\n"
                "Prints the table of all ranks: node, device, cores, memory.\n"},
    {"calibrate", "usage: [mpirun -n RANKS] tesela calibrate DECK [options]\n"
                  "\n"
                  "Measures every rank's device on samples of the deck's units and stores the\n"
                  "coefficients in $XDG_CACHE_HOME/tesela/calibration (key run.calibration).\n"
                  "\n" DECK_OPTIONS},
    {"rates",
     "usage: tesela rates DECK [options]\n"
     "\n"
     "How many passes over this deck's units (runs, or iterations) each device would make\n"
     "in a day, by the calibrations stored so far, on this host or others that share the\n"
     "file (key run.calibration). Measures nothing.\n"
     "\n" DECK_OPTIONS},
    {"probe", tsl_probe_help},
    {"bench", "usage: tesela bench NAME [options]\n"
              "\n"
              "Without NAME: the list of benchmarks of this build. NAME --help: its options.\n"
              "`bench share` is started with mpirun or srun, `bench dp-paper` may be, the\n"
              "others are not.\n"},
    {"show", tsl_show_help},
};
enum { N_TEXTS = sizeof texts / sizeof texts[0] };

static const char *type_text(const tsl_key *key) {
  switch (key->type) {
  case TSL_KEY_BOOL:
    return "yes | no";
  case TSL_KEY_INT:
    return "whole number";
  case TSL_KEY_REAL:
    return "number";
  case TSL_KEY_BYTES:
    return "bytes, such as 2 GiB";
  case TSL_KEY_TEXT:
    return "text";
  case TSL_KEY_REALS:
    return "list of numbers";
  case TSL_KEY_INTS:
    return "list of whole numbers";
  case TSL_KEY_TEXTS:
    return "list of texts";
  case TSL_KEY_MAP:
    return "map";
  case TSL_KEY_MAPS:
    return "list of maps";
  case TSL_KEY_WORDS:
    return "list of ";
  case TSL_KEY_CHOICE:
    break;
  }
  return "";
}

static void print_keys(const tsl_key *keys, int indent) {
  for (; keys->name != NULL; keys++) {
    printf("%*s%s: %s", indent, "", keys->name,
           keys->choices != NULL && keys->type == TSL_KEY_MAP ? "" : type_text(keys));
    for (int c = 0; keys->choices != NULL && keys->choices[c] != NULL; c++)
      printf("%s%s", c > 0 ? " | " : "", keys->choices[c]);
    if (keys->min != 0 || keys->max != 0) printf(", %g .. %g", keys->min, keys->max);
    if (keys->standard == NULL)
      printf("  (required)");
    else if (keys->standard[0] != '\0' && keys->type != TSL_KEY_MAP)
      printf("  (default %s)", keys->standard);
    printf("\n%*s%s\n", indent + 4, "", keys->doc != NULL ? keys->doc : "");
    if (keys->keys != NULL) print_keys(keys->keys, indent + 4);
  }
}

static bool print_table(const char *topic) {
  if (strcmp(topic, "run-keys") == 0) return printf("run:\n"), print_keys(tsl_run_keys, 2), true;
  if (strcmp(topic, "output-keys") == 0)
    return printf("output:\n"), print_keys(tsl_output_keys, 2), true;
  for (int f = 0; tsl_families[f] != NULL; f++)
    if (strcmp(topic, tsl_families[f]->name) == 0) {
      printf("%s - %s\n\n%s:\n", topic, tsl_families[f]->doc, topic);
      return print_keys(tsl_families[f]->keys, 2), true;
    }
  return false;
}

static tsl_err unknown(const char *topic) {
  const char *topics[N_TEXTS + 2 + 16 + 1];
  int n = 0;
  for (int k = 1; k < N_TEXTS; k++) topics[n++] = texts[k].topic;
  topics[n++] = "run-keys";
  topics[n++] = "output-keys";
  for (int f = 0; tsl_families[f] != NULL && f < 16; f++) topics[n++] = tsl_families[f]->name;
  topics[n] = NULL;
  const char *near = tsl_nearest_word(topic, topics);
  return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__, "no help on '%s'%s%s%s; see `tesela --help`",
                  topic, near ? "; did you mean '" : "", near ? near : "", near ? "'" : "");
}

tsl_err tsl_help(MPI_Comm comm, const char *topic) {
  int rank = 0;
  if (comm != MPI_COMM_NULL) (void)MPI_Comm_rank(comm, &rank);
  if (rank != 0) return TSL_OK;
  for (int k = 0; k < N_TEXTS; k++)
    if (strcmp(topic, texts[k].topic) == 0) return fputs(texts[k].text, stdout), TSL_OK;
  return print_table(topic) ? TSL_OK : unknown(topic);
}
