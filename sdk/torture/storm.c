/* Preloaded into a process: a signal arrives PRIMSET_STORM_HZ times a second, with a handler that
 * only counts. At the end of the process the number is appended to the file PRIMSET_STORM_COUNT.
 * Forked children have a storm of their own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_long delivered;

static void count(int signal) {
  (void)signal;
  atomic_fetch_add_explicit(&delivered, 1, memory_order_relaxed);
}

static void arm(void) {
  const char* hz = getenv("PRIMSET_STORM_HZ");
  const long rate = hz ? atol(hz) : 1000;
  const struct timeval interval = {0, rate > 1000000 || rate < 1 ? 1 : 1000000 / rate};
  const struct itimerval timer = {interval, interval};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void arm_child(void) {
  atomic_store(&delivered, 0);
  arm();
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action = {0};
  action.sa_handler = count;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  pthread_atfork(NULL, NULL, arm_child);
  arm();
}

__attribute__((destructor)) static void end(void) {
  const char* path = getenv("PRIMSET_STORM_COUNT");
  char line[32];
  const int length = snprintf(line, sizeof(line), "%ld\n", atomic_load(&delivered));
  const int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file >= 0 && write(file, line, (size_t)length) < 0) perror("storm");
  if (file >= 0) close(file);
}
