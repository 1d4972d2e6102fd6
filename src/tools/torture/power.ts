// Section "power" simulates a power failure. The server is killed as in "crash", and then a coin decides page by page
// whether what it had written but not synced is lost, as it may be on a disk that loses power.
//
// A small library in C is loaded before the server's own (LD_PRELOAD). It records what each write to the database replaces,
// and drops these records once a sync has returned; a file opened for synced writes (LMDB's second handle) counts as synced
// at once. It also shows the server another boot id after each death, since LMDB trusts unsynced pages until the machine
// restarts.
//
// It does not model a disk that lies about a sync, a page that was written in part, or a file system that loses a file's
// name or length.

import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { dieOften } from './crash.ts'
import { compilePreload, preloadMissing } from './preload.ts'
import type { Random } from './random.ts'
import type { Scene } from './scene.ts'
import type { Tally } from './tally.ts'

const SHIM = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* A slow disk catches a server that says yes before a sync is back. */
#define SLOW_DISK_US 20000

/* A note: kind 'W' offset length bytes-before, or 'S' number-of-notes-that-are-now-on-disk. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;
static uint64_t notes = 0;

static int is_database(int fd) {
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 9) return 0;
  path[n] = 0;
  return strcmp(path + n - 9, "/data.mdb") == 0;
}
static int is_watched(int fd) {
  if (!getenv("TORTURE_JOURNAL") || !is_database(fd)) return 0;
  return !(fcntl(fd, F_GETFL) & O_DSYNC);
}
static ssize_t (*real_write)(int, const void *, size_t);
static void put(const void *bytes, size_t length) {
  if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
  if (journal < 0) journal = open(getenv("TORTURE_JOURNAL"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  real_write(journal, bytes, length);
}
static void note(int fd, off_t offset, size_t length) {
  size_t whole = 17 + length;
  char *row = calloc(1, whole);
  uint64_t at = offset, many = length;
  row[0] = 'W';
  memcpy(row + 1, &at, 8);
  memcpy(row + 9, &many, 8);
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int reader = open(link, O_RDONLY);
  pread(reader, row + 17, length, offset);
  close(reader);
  pthread_mutex_lock(&lock);
  put(row, whole);
  notes++;
  pthread_mutex_unlock(&lock);
  free(row);
}
static void synced(uint64_t upto) {
  char row[9] = "S";
  memcpy(row + 1, &upto, 8);
  pthread_mutex_lock(&lock);
  put(row, 9);
  pthread_mutex_unlock(&lock);
}
static uint64_t written(void) {
  pthread_mutex_lock(&lock);
  uint64_t now = notes;
  pthread_mutex_unlock(&lock);
  return now;
}

/* A write's note is counted before the write itself is done, so a sync in another thread must not count it. */
static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
#define WRITE(fd, offset, length, call) \\
  if (!is_watched(fd)) return call; \\
  pthread_rwlock_rdlock(&gate); \\
  note(fd, offset, length); \\
  ssize_t done = call; \\
  pthread_rwlock_unlock(&gate); \\
  return done;

static size_t total(const struct iovec *parts, int count) {
  size_t sum = 0;
  for (int i = 0; i < count; i++) sum += parts[i].iov_len;
  return sum;
}
ssize_t write(int fd, const void *bytes, size_t length) {
  if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
  WRITE(fd, lseek(fd, 0, SEEK_CUR), length, real_write(fd, bytes, length))
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  static ssize_t (*real)(int, const struct iovec *, int);
  if (!real) real = dlsym(RTLD_NEXT, "writev");
  WRITE(fd, lseek(fd, 0, SEEK_CUR), total(parts, count), real(fd, parts, count))
}
#define PWRITE(name) \\
ssize_t name(int fd, const void *bytes, size_t length, off_t offset) { \\
  static ssize_t (*real)(int, const void *, size_t, off_t); \\
  if (!real) real = dlsym(RTLD_NEXT, #name); \\
  WRITE(fd, offset, length, real(fd, bytes, length, offset)) \\
}
PWRITE(pwrite)
PWRITE(pwrite64)
#define PWRITEV(name) \\
ssize_t name(int fd, const struct iovec *parts, int count, off_t offset) { \\
  static ssize_t (*real)(int, const struct iovec *, int, off_t); \\
  if (!real) real = dlsym(RTLD_NEXT, #name); \\
  WRITE(fd, offset, total(parts, count), real(fd, parts, count, offset)) \\
}
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define SYNC(name) \\
int name(int fd) { \\
  static int (*real)(int); \\
  if (!real) real = dlsym(RTLD_NEXT, #name); \\
  if (!getenv("TORTURE_JOURNAL") || !is_database(fd)) return real(fd); \\
  pthread_rwlock_wrlock(&gate); \\
  uint64_t before = written(); \\
  pthread_rwlock_unlock(&gate); \\
  usleep(SLOW_DISK_US); \\
  int failed = real(fd); \\
  if (!failed) synced(before); \\
  return failed; \\
}
SYNC(fsync)
SYNC(fdatasync)
int msync(void *start, size_t length, int flags) {
  static int (*real)(void *, size_t, int);
  if (!real) real = dlsym(RTLD_NEXT, "msync");
  uint64_t before = written();
  int failed = real(start, length, flags);
  if (!failed && before && (flags & MS_SYNC)) synced(before);
  return failed;
}

#define OPEN(name) \\
int name(const char *path, int flags, ...) { \\
  static int (*real)(const char *, int, ...); \\
  if (!real) real = dlsym(RTLD_NEXT, #name); \\
  va_list rest; \\
  va_start(rest, flags); \\
  int mode = va_arg(rest, int); \\
  va_end(rest); \\
  const char *boot = getenv("TORTURE_BOOT"); \\
  if (boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) path = boot; \\
  return real(path, flags, mode); \\
}
OPEN(open)
OPEN(open64)
`

export async function power(scene: Scene, tally: Tally): Promise<void> {
  const missing = preloadMissing()
  if (missing !== null) return tally.figure('left out', missing)
  const folder = `/tmp/chartroom-power-${process.pid}`
  const files = { shim: `${folder}.so`, journal: `${folder}.journal`, boot: `${folder}.boot` }
  let [recorded, dropped] = [0, 0]
  try {
    compilePreload(SHIM, files.shim)
    let boots = 0
    writeBoot(files.boot, boots)
    await dieOften(scene, tally, scene.rounds(300), {
      environment: { LD_PRELOAD: files.shim, TORTURE_JOURNAL: files.journal, TORTURE_BOOT: files.boot },
      signals: ['SIGKILL'],
      after(data, random) {
        if (existsSync(files.journal)) recorded++
        dropped += dropUnsynced(`${data}/db/data.mdb`, files.journal, random)
        writeBoot(files.boot, ++boots)
      },
    })
    if (recorded === 0)
      tally.find('no write was ever recorded', 'the library was not loaded', 'from the start')
    tally.figure('unsynced writes dropped', dropped.toLocaleString('en'))
  } finally {
    for (const file of Object.values(files)) rmSync(file, { force: true })
  }
}

function writeBoot(file: string, boot: number): void {
  const id = (0x10000000 + boot).toString(16)
  writeFileSync(file, `${id}-0000-4000-8000-000000000000\n`)
}

/** Takes back writes that no sync covers, newest first; a coin decides for each. Answers how many were lost. */
function dropUnsynced(database: string, journal: string, random: Random): number {
  if (!existsSync(journal)) return 0

  const unsynced = unsyncedWrites(readFileSync(journal))
  rmSync(journal)
  // Sometimes all of them are lost, which is the likeliest in reality.
  const share = random.pick([0.5, 0.9, 1])
  const file = openSync(database, 'r+')
  let dropped = 0
  for (const { offset, before } of unsynced.toReversed())
    if (random.chance(share)) {
      writeSync(file, before, 0, before.length, offset)
      dropped++
    }
  closeSync(file)
  return dropped
}

interface Write {
  readonly offset: number
  readonly before: Uint8Array
}

function unsyncedWrites(journal: Buffer): Write[] {
  const writes: Write[] = []
  let durable = 0
  for (let at = 0; at + 9 <= journal.length;) {
    const first = Number(journal.readBigUInt64LE(at + 1))
    if (journal[at] === 0x53) {
      durable = Math.max(durable, first)
      at += 9
      continue
    }
    const length = Number(journal.readBigUInt64LE(at + 9))
    writes.push({ offset: first, before: journal.subarray(at + 17, at + 17 + length) })
    at += 17 + length
  }
  return writes.slice(durable)
}
