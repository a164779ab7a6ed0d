// A storm of threads, forks, executed programs and signals, drawn from a seed. Ends with a code that the seed decides.
//
//     storm SEED            one storm
//     storm FIRST LAST      storms one after another, each a process of its own: prints the seeds that end unexpectedly
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *self;
static volatile sig_atomic_t signals;

// Blocks that a thread keeps, and threads of a storm.
enum { BLOCKS = 64, MOST_THREADS = 32 };

static uint32_t draw(uint64_t *state, uint32_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % below;
}

// Every 64 bytes carry a pattern, so that a block that is handed out twice is noticed.
static void fill(unsigned char *block, size_t length, unsigned char pattern) {
  for (size_t at = 0; at < length; at += 64) block[at] = pattern;
}
static int differs(const unsigned char *block, size_t length, unsigned char pattern) {
  for (size_t at = 0; at < length; at += 64)
    if (block[at] != pattern) return 1;
  return 0;
}

static int allocate(uint64_t *state, int rounds) {
  struct { unsigned char *start; size_t length; unsigned char pattern; int is_mapped; } kept[BLOCKS] = {{0}};
  int wrong = 0;
  for (int i = 0; i < rounds; i++) {
    int at = (int)draw(state, BLOCKS), way = (int)draw(state, 9);
    size_t length = draw(state, 16) ? draw(state, 3000) + 1 : draw(state, 300000) + 1;
    unsigned char *block = kept[at].start;
    if (block) {
      size_t known = kept[at].length;
      wrong += differs(block, known, kept[at].pattern);
      if (kept[at].is_mapped) {
        if (draw(state, 2)) {
          block = mremap(block, known, length, MREMAP_MAYMOVE);
          if (block == MAP_FAILED) { wrong++; kept[at].start = NULL; continue; }
          wrong += differs(block, known < length ? known : length, kept[at].pattern);
          munmap(block, length);
        } else munmap(block, known);
      } else if (way == 8) {
        unsigned char *moved = realloc(block, length);
        if (!moved) { wrong++; free(block); kept[at].start = NULL; continue; }
        wrong += differs(moved, known < length ? known : length, kept[at].pattern);
        free(moved);
      } else free(block);
    }
    kept[at].is_mapped = way == 7;
    void *aligned = NULL;
    switch (way) {
    case 0: block = calloc(1, length); wrong += block && differs(block, length, 0); break;
    case 1: block = posix_memalign(&aligned, 64, length) ? NULL : aligned; break;
    case 2: block = aligned_alloc(64, (length + 63) & ~(size_t)63); break;
    case 3: block = realloc(NULL, length); break;
    case 4: block = (unsigned char *)strdup("a text that is copied"); length = 22; break;
    case 7:
      block = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (block == MAP_FAILED) block = NULL;
      break;
    default: block = malloc(length);
    }
    if (!block) { wrong++; kept[at].start = NULL; continue; }
    kept[at].start = block;
    kept[at].length = length;
    kept[at].pattern = (unsigned char)draw(state, 256);
    fill(block, length, kept[at].pattern);
  }
  for (int at = 0; at < BLOCKS; at++)
    if (kept[at].start) {
      wrong += differs(kept[at].start, kept[at].length, kept[at].pattern);
      if (kept[at].is_mapped) munmap(kept[at].start, kept[at].length);
      else free(kept[at].start);
    }
  return wrong;
}

static void *thread(void *seed) {
  uint64_t state = (uint64_t)(uintptr_t)seed;
  return (void *)(intptr_t)allocate(&state, 20 + (int)draw(&state, 200));
}

static int code_of(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static int start_children(uint64_t *state, int depth) {
  int wrong = 0, count = (int)draw(state, 5);
  for (int i = 0; i < count; i++) {
    int way = (int)draw(state, 7), expected = (int)draw(state, 100) + 1;
    char code[32];
    snprintf(code, sizeof code, "exit %d", expected);
    char *const shell[] = {"sh", "-c", code, NULL};
    uint64_t own = *state ^ (uint64_t)i * 77777;
    pid_t child = -1;
    if (way == 0) {
      if (posix_spawn(&child, "/bin/sh", NULL, NULL, shell, environ)) { wrong++; continue; }
    } else if (way == 1) {
      if ((child = vfork()) == 0) { execv("/bin/sh", shell); _exit(127); }
    } else if ((child = fork()) == 0) {
      if (way == 2) execv("/bin/sh", shell);
      if (way == 3) execl(self, self, "work", code + 5, (char *)NULL);
      int bad = allocate(&own, 150);
      if (way == 4 && depth < 2) bad += start_children(&own, depth + 1);
      if (way == 5) {
        pthread_t one;
        void *result = NULL;
        if (pthread_create(&one, NULL, thread, (void *)(uintptr_t)own)) bad++;
        else pthread_join(one, &result);
        bad += result != NULL;
      }
      if (way == 6) raise(SIGKILL);
      _exit(bad ? 255 : expected);
    }
    if (way == 6) expected = 256 + SIGKILL;
    int code_is = code_of(child);
    if (code_is != expected) {
      fprintf(stderr, "way %d: %d instead of %d\n", way, code_is, expected);
      wrong++;
    }
  }
  return wrong;
}

static void count_signal(int signal) {
  (void)signal;
  signals++;
}

static int storm(uint64_t seed) {
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  int wrong = 0, threads = (int)draw(&state, MOST_THREADS + 1);
  if (draw(&state, 3) == 0) {
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, NULL);
  }
  pthread_t started[MOST_THREADS];
  for (int i = 0; i < threads; i++)
    if (pthread_create(&started[i], NULL, thread, (void *)(uintptr_t)(seed * 1000 + (uint64_t)i))) { threads = i; wrong++; }
  wrong += allocate(&state, 200);
  wrong += start_children(&state, 0);
  const char *libraries[] = {"libm.so.6", "libresolv.so.2", "libutil.so.1", "libnsl.so.1"};
  for (int i = (int)draw(&state, 6); i > 0; i--) {
    void *library = dlopen(libraries[draw(&state, 4)], RTLD_NOW);
    wrong += allocate(&state, 20);
    if (library) dlclose(library);
  }
  for (int i = 0; i < threads; i++) {
    void *result;
    pthread_join(started[i], &result);
    wrong += result != NULL;
  }
  return wrong ? 255 : (int)(seed % 200) + 1;
}

int main(int count, char **arguments) {
  self = "/proc/self/exe";
  if (count == 3 && !strcmp(arguments[1], "work")) {
    uint64_t state = strtoull(arguments[2], NULL, 10);
    return allocate(&state, 300) ? 255 : atoi(arguments[2]);
  }
  uint64_t first = strtoull(arguments[1], NULL, 10);
  if (count == 2) {
    return storm(first);
  }
  uint64_t last = strtoull(arguments[2], NULL, 10), unexpected = 0;
  for (uint64_t seed = first; seed < last; seed++) {
    pid_t child = fork();
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    if (child == 0) {
      execl("/usr/bin/timeout", "timeout", "-s", "KILL", "60", arguments[0], text, (char *)NULL);
      _exit(127);
    }
    int code = code_of(child);
    if (code != (int)(seed % 200) + 1) {
      printf("seed %s ends with %d\n", text, code);
      unexpected++;
    }
  }
  printf("%llu storms, %llu unexpected\n", (unsigned long long)(last - first), (unsigned long long)unexpected);
  return unexpected ? 1 : 0;
}
