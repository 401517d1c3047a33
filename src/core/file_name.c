/* Two names are the same file when device and inode are equal, or, where a file does not exist yet,
 * when the resolved folder and the last component are. */
#include "file_name.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/** Folder of the file with links resolved, and its name there. @return false when there is none. */
static bool locate(const char *file, char folder[PATH_MAX], const char **name) {
  char text[PATH_MAX];
  const char *slash = strrchr(file, '/');
  *name = slash == NULL ? file : slash + 1;
  const int n = slash == NULL ? 1 : slash == file ? 1 : (int)(slash - file);
  if (n >= PATH_MAX) return false;
  (void)snprintf(text, sizeof text, "%.*s", n, slash == NULL ? "." : file);
  return realpath(text, folder) != NULL;
}

bool tsl_same_file(const char *a, const char *b) {
  char folder_a[PATH_MAX], folder_b[PATH_MAX];
  const char *name_a, *name_b;
  struct stat at_a, at_b;
  if (stat(a, &at_a) == 0 && stat(b, &at_b) == 0)
    return at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
  return locate(a, folder_a, &name_a) && locate(b, folder_b, &name_b) &&
         strcmp(folder_a, folder_b) == 0 && strcmp(name_a, name_b) == 0;
}

bool tsl_ends_in(const char *name, const char *ending) {
  const size_t n = strlen(name), m = strlen(ending);
  return n > m && strcasecmp(name + n - m, ending) == 0;
}

bool tsl_may_replace(const char *file, const char *text, size_t n) {
  struct stat there;
  char head[65] = "";
  if (lstat(file, &there) != 0 || !S_ISREG(there.st_mode)) return true;
  FILE *stream = fopen(file, "rb");
  if (stream == NULL) return false;
  n = fread(head, 1, n, stream);
  (void)fclose(stream);
  return n == 0 || strstr(head, text) != NULL;
}
