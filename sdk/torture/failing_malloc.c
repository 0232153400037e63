/* Preloaded into a process: one allocation of a window fails.
 *
 *   primset_fail_allocation(N)   opens the window: the N-th allocation from here on, of any thread,
 *                                fails, once; N 0: none, they are only counted
 *   primset_end_failures()       closes it; returns how many allocations there were
 *   primset_failures_delivered() whether the N-th was reached and has failed
 *
 * With PRIMSET_FAIL_ALLOCATION=N in the environment the window is all of main(). With
 * PRIMSET_FAIL_THREADS=N the N-th thread and those after it cannot be started.
 *
 * LLVM cannot go on after a failed allocation, whoever asks it to: what it and its callees allocate
 * is neither counted nor failed. It is known by its code: by the caller's address, and, before an
 * allocation is made to fail, by all callers on the stack. Where LLVM is not a library of its own,
 * nothing can be told apart: primset_llvm_is_known() is 0, and nothing that compiles should be
 * tried. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static atomic_long left = -1, counted; /* of the window; left < 0: nothing fails */
static atomic_int open_window, delivered;
static uintptr_t llvm_begin, llvm_end;
static __thread int busy;

static int find_llvm(struct dl_phdr_info* info, size_t size, void* data) {
  int i;
  (void)size, (void)data;
  if (!strstr(info->dlpi_name, "libLLVM")) return 0;
  for (i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
    llvm_begin = info->dlpi_addr + p->p_vaddr;
    llvm_end = llvm_begin + p->p_memsz;
  }
  return 1;
}

int primset_llvm_is_known(void) {
  dl_iterate_phdr(find_llvm, NULL);
  return llvm_end != 0;
}

static int is_llvm(uintptr_t address) { return address >= llvm_begin && address < llvm_end; }

static _Unwind_Reason_Code look(struct _Unwind_Context* context, void* found) {
  if (!is_llvm((uintptr_t)_Unwind_GetIP(context))) return _URC_NO_REASON;
  *(int*)found = 1;
  return _URC_END_OF_STACK;
}

static int called_by_llvm(void) {
  int found = 0;
  busy = 1;
  _Unwind_Backtrace(look, &found);
  busy = 0;
  return found;
}

static int fails(void* caller) {
  if (!atomic_load_explicit(&open_window, memory_order_relaxed) || busy ||
      is_llvm((uintptr_t)caller))
    return 0;
  atomic_fetch_add(&counted, 1);
  if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 1) return 0;
  if (called_by_llvm()) return 0;
  atomic_store(&delivered, 1);
  errno = ENOMEM;
  return 1;
}

void primset_fail_allocation(long n) {
  atomic_store(&counted, 0);
  atomic_store(&delivered, 0);
  atomic_store(&left, n > 0 ? n : -1);
  atomic_store(&open_window, 1);
}

long primset_end_failures(void) {
  atomic_store(&open_window, 0);
  return atomic_load(&counted);
}

int primset_failures_delivered(void) { return atomic_load(&delivered); }

#define CALLER __builtin_return_address(0)

void* malloc(size_t n) { return fails(CALLER) ? NULL : __libc_malloc(n); }
void* calloc(size_t n, size_t size) { return fails(CALLER) ? NULL : __libc_calloc(n, size); }
void* realloc(void* p, size_t n) { return n && fails(CALLER) ? NULL : __libc_realloc(p, n); }
void* memalign(size_t alignment, size_t n) {
  return fails(CALLER) ? NULL : __libc_memalign(alignment, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  return fails(CALLER) ? NULL : __libc_memalign(alignment, n);
}
int posix_memalign(void** out, size_t alignment, size_t n) {
  void* p = fails(CALLER) ? NULL : __libc_memalign(alignment, n);
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  typedef int (*create_t)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static atomic_long started;
  const char* n = getenv("PRIMSET_FAIL_THREADS");
  if (n && atomic_fetch_add(&started, 1) + 1 >= atol(n)) return EAGAIN;
  return ((create_t)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, start, argument);
}

/* --- a window around main() ------------------------------------------------------------------- */

typedef int (*main_t)(int, char**, char**);
static main_t real_main;

static int main_in_a_window(int argc, char** argv, char** environment) {
  const char* n = getenv("PRIMSET_FAIL_ALLOCATION");
  int code;
  primset_llvm_is_known();
  if (n) primset_fail_allocation(atol(n));
  code = real_main(argc, argv, environment);
  primset_end_failures();
  return code;
}

int __libc_start_main(main_t main, int argc, char** argv, main_t init, void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  typedef int (*start_t)(main_t, int, char**, main_t, void (*)(void), void (*)(void), void*);
  const start_t next = (start_t)dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return next(main_in_a_window, argc, argv, init, fini, rtld_fini, stack_end);
}
