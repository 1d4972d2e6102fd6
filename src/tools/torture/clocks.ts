// Section "clocks": the machine's clock is set, forwards and back, by minutes or days, while alerts fire and the server is
// stopped, killed and started again. Every promise of "crash" holds: nothing is lost, and no alert is silent or fires twice.
//
// A small library loaded before the server's own adds an offset to CLOCK_REALTIME. Clocks that only go forwards
// (CLOCK_MONOTONIC) are left alone, just as when a real clock is set. The clock is also set before every start, as often
// back as forwards: what was due at a time that the clock has since left again is still due.

import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { dieOften } from './crash.ts'
import { compilePreload, preloadMissing } from './preload.ts'
import type { Scene } from './scene.ts'
import type { Tally } from './tally.ts'

const SHIM = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Seconds, written by the torture while the server runs. */
static volatile long long *offset;
static long long seconds(void) {
  if (!offset) {
    static long long none = 0;
    const char *path = getenv("TORTURE_CLOCK");
    int fd = path ? open(path, O_RDONLY) : -1;
    void *page = fd < 0 ? MAP_FAILED : mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    offset = page == MAP_FAILED ? &none : page;
  }
  return *offset;
}
int clock_gettime(clockid_t clock, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(clock, at);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += seconds();
  return failed;
}
int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
/* A wait until a time of that clock is told the true one; times of other clocks are no dates. */
#define IS_DATE(at) ((at)->tv_sec > 1000000000)
static struct timespec truth(const struct timespec *at) {
  struct timespec real = *at;
  if (IS_DATE(at)) real.tv_sec -= seconds();
  return real;
}
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
  static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (!real) real = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  if (!real) real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  struct timespec at = truth(until);
  return real(condition, mutex, &at);
}
int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
  static int (*real)(sem_t *, const struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "sem_timedwait");
  struct timespec at = truth(until);
  return real(semaphore, &at);
}
time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
`

/** Idempotency keys are kept for a day, so a longer jump would rightly end them. */
const FARTHEST = 10 * 3600

export async function clocks(scene: Scene, tally: Tally): Promise<void> {
  const missing = preloadMissing()
  if (missing !== null) return tally.figure('left out', missing)
  const files = {
    shim: `/tmp/chartroom-clock-${process.pid}.so`,
    clock: `/tmp/chartroom-clock-${process.pid}`,
  }
  let jumps = 0
  const jump = (seconds: number) => {
    setOffset(files.clock, seconds)
    tally.faults++
    jumps++
  }
  const anywhere = [0, 1, -1, 90, -90, 3600, -3600, FARTHEST, -FARTHEST]
  try {
    compilePreload(SHIM, files.shim)
    setOffset(files.clock, 0)
    await dieOften(scene, tally, scene.rounds(200), {
      environment: { LD_PRELOAD: files.shim, TORTURE_CLOCK: files.clock },
      signals: ['SIGKILL', 'SIGTERM'],
      during: (random) => jump(random.pick(anywhere)),
      after: (_data, random) => jump(random.pick(anywhere)),
    })
    tally.figure('jumps', String(jumps))
  } finally {
    for (const file of Object.values(files)) rmSync(file, { force: true })
  }
}

/** The file keeps its place and length, since the server has its page mapped. */
function setOffset(file: string, seconds: number): void {
  const page = new BigInt64Array(512)
  page[0] = BigInt(seconds)
  const handle = openSync(file, 'a+')
  closeSync(handle)
  const writer = openSync(file, 'r+')
  writeSync(writer, page, 0, page.byteLength, 0)
  closeSync(writer)
}
