/* Preloaded into a process: its disk ends after PRIMSET_DISK_BYTES bytes. Only files whose path
 * begins with PRIMSET_DISK_FOLDER count; a new name in a folder counts as a byte. At the end, by
 * PRIMSET_DISK_END,
 *   full    what fits is written, everything else fails with ENOSPC
 *   kill    what fits is written, and SIGKILL ends the process in the middle of its write
 * When it came to that, a line is appended to the file PRIMSET_DISK_COUNT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long left;
static atomic_int reached;
static const char* folder;
static int kills;

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))
typedef ssize_t (*write_t)(int, const void*, size_t);
typedef ssize_t (*pwrite_t)(int, const void*, size_t, off_t);
typedef int (*openat_t)(int, const char*, int, ...);
typedef int (*renameat_t)(int, const char*, int, const char*);
typedef int (*linkat_t)(int, const char*, int, const char*, int);

static write_t real_write;
static pwrite_t real_pwrite;
static openat_t real_openat;
static renameat_t real_renameat;
static linkat_t real_linkat;

__attribute__((constructor)) static void begin(void) {
  const char *bytes = getenv("PRIMSET_DISK_BYTES"), *end = getenv("PRIMSET_DISK_END");
  real_write = NEXT(write_t, "write");
  real_pwrite = NEXT(pwrite_t, "pwrite64");
  real_openat = NEXT(openat_t, "openat64");
  real_renameat = NEXT(renameat_t, "renameat");
  real_linkat = NEXT(linkat_t, "linkat");
  atomic_store(&left, bytes ? atol(bytes) : 0);
  kills = end && !strcmp(end, "kill");
  folder = bytes ? getenv("PRIMSET_DISK_FOLDER") : NULL;
}

static int counts_path(const char* path) {
  return folder && !strncmp(path, folder, strlen(folder));
}

static int counts(int fd) {
  char link[64], path[4096];
  ssize_t n;
  if (!folder) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  n = readlink(link, path, sizeof(path) - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return counts_path(path);
}

static int counts_at(int fd, const char* path) {
  return path[0] == '/' ? counts_path(path) : fd != AT_FDCWD && counts(fd);
}

static void tell(void) {
  const char* path = getenv("PRIMSET_DISK_COUNT");
  int fd;
  if (atomic_exchange(&reached, 1) || !path) return;
  fd = real_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (real_write(fd, "end\n", 4) < 0) perror("disk");
  close(fd);
}

/* How many of `size` bytes still fit. */
static size_t take(size_t size) {
  const long before = atomic_fetch_sub(&left, (long)size);
  if (before >= (long)size) return size;
  tell();
  return before > 0 ? (size_t)before : 0;
}

static int end(void) {
  if (kills) raise(SIGKILL);
  errno = ENOSPC;
  return -1;
}

/* A device writes what fits and fails the next time. */
ssize_t write(int fd, const void* data, size_t size) {
  const size_t fits = !size || !counts(fd) ? size : take(size);
  ssize_t written = 0;
  if (fits || !size) written = real_write(fd, data, fits);
  if (fits == size || (written > 0 && !kills)) return written;
  return end();
}

static ssize_t write_at(int fd, const void* data, size_t size, off_t offset) {
  const size_t fits = !size || !counts(fd) ? size : take(size);
  ssize_t written = 0;
  if (fits || !size) written = real_pwrite(fd, data, fits, offset);
  if (fits == size || (written > 0 && !kills)) return written;
  return end();
}
ssize_t pwrite(int fd, const void* d, size_t n, off_t o) { return write_at(fd, d, n, o); }
ssize_t pwrite64(int fd, const void* d, size_t n, off_t o) { return write_at(fd, d, n, o); }

/* What is written before the first part that fails counts. */
ssize_t writev(int fd, const struct iovec* parts, int count) {
  ssize_t sum = 0;
  int i;
  for (i = 0; i < count; ++i) {
    const ssize_t n = parts[i].iov_len ? write(fd, parts[i].iov_base, parts[i].iov_len) : 0;
    if (n < 0) return sum ? sum : n;
    sum += n;
    if ((size_t)n < parts[i].iov_len) return sum;
  }
  return sum;
}

static int open_at(int at, const char* path, int flags, mode_t mode) {
  const int makes = (flags & O_CREAT) && counts_at(at, path) && faccessat(at, path, F_OK, 0) != 0;
  if (makes && !take(1)) return end();
  return real_openat(at, path, flags, mode);
}

#define OPEN(name, parameters, at, path)   \
  int name parameters {                    \
    mode_t mode = 0;                       \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
      va_list list;                        \
      va_start(list, flags);               \
      mode = va_arg(list, mode_t);         \
      va_end(list);                        \
    }                                      \
    return open_at(at, path, flags, mode); \
  }
OPEN(open, (const char* path, int flags, ...), AT_FDCWD, path)
OPEN(open64, (const char* path, int flags, ...), AT_FDCWD, path)
OPEN(openat, (int at, const char* path, int flags, ...), at, path)
OPEN(openat64, (int at, const char* path, int flags, ...), at, path)

int renameat(int from_at, const char* from, int to_at, const char* to) {
  if (counts_at(to_at, to) && !take(1)) return end();
  return real_renameat(from_at, from, to_at, to);
}
int rename(const char* from, const char* to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
int linkat(int from_at, const char* from, int to_at, const char* to, int flags) {
  if (counts_at(to_at, to) && !take(1)) return end();
  return real_linkat(from_at, from, to_at, to, flags);
}
