/* Faults of a file system, for tests: preloaded (LD_PRELOAD), it counts the calls that write below a
 * folder, and fails one of them, shortens it, or kills the process there.
 *
 * Which call fails, and how, is in a file that all processes map: see `Orders`, and faults.py, which
 * writes it. It can change while a process runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SHORTENS = 1, LASTS = 2, KILLS = 4 };

typedef struct {
    _Atomic uint64_t count;   /* calls so far */
    uint64_t first;           /* number of the call that fails; 0: none */
    _Atomic uint64_t hits;    /* calls that failed */
    int32_t error;            /* errno of a call that fails */
    uint32_t flags;
    char folder[PATH_MAX];    /* only calls on files at or below it count */
    char log[PATH_MAX];       /* file to which each call appends a line; "": none */
} Orders;

static Orders *orders;

typedef enum { PASSES, SHORTER, FAILS } Fate;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

__attribute__((constructor)) static void map_orders(void) {
    const char *path = getenv("WRITEAMP_FAULT_ORDERS");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
    if (fd < 0) return;
    void *found = mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (found != MAP_FAILED) orders = found;
}

static int is_below(const char *path) {
    size_t length = strlen(orders->folder);
    return length && !strncmp(path, orders->folder, length) &&
           (path[length] == '/' || path[length] == '\0');
}

static void append_to_log(uint64_t number, const char *call, size_t bytes, Fate fate,
                          const char *path) {
    if (!orders->log[0]) return;
    char line[PATH_MAX + 100];
    int length = snprintf(line, sizeof line, "%llu\t%s\t%zu\t%d\t%s\n", (unsigned long long)number,
                          call, bytes, fate != PASSES, path);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, orders->log, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    if (fd < 0) return;
    syscall(SYS_write, fd, line, (size_t)length);
    syscall(SYS_close, fd);
}

/* What becomes of a call; `bytes` is what it writes, 0 of calls that cannot be shortened. */
static Fate fate_of(const char *call, const char *path, size_t bytes) {
    if (!orders || !is_below(path)) return PASSES;
    uint64_t number = atomic_fetch_add(&orders->count, 1) + 1, first = orders->first;
    uint32_t flags = orders->flags;
    Fate fate = PASSES;
    if (first && number == first) {
        fate = flags & SHORTENS ? (bytes > 1 ? SHORTER : PASSES) : FAILS;
    } else if (first && number > first && flags & LASTS) {
        fate = FAILS;
    }
    append_to_log(number, call, bytes, fate, path);
    if (fate == PASSES) return PASSES;
    atomic_fetch_add(&orders->hits, 1);
    if (fate == FAILS && flags & KILLS) raise(SIGKILL);
    errno = orders->error;
    return fate;
}

/* After half of the bytes: what a process writes that is killed meanwhile. */
static void end_if_ordered(void) {
    if (orders->flags & KILLS) raise(SIGKILL);
}

static Fate fate_of_fd(const char *call, int fd, size_t bytes) {
    if (!orders) return PASSES;
    char link[40], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return PASSES;
    path[length] = '\0';
    return fate_of(call, path, bytes);
}

static Fate fate_of_name(const char *call, int folder, const char *name) {
    if (!orders || !name) return PASSES;
    char link[40] = "/proc/self/cwd", path[2 * PATH_MAX + 2];
    size_t length = 0;
    if (name[0] != '/') {
        if (folder != AT_FDCWD) snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t found = readlink(link, path, PATH_MAX);
        if (found < 0) return PASSES;
        path[found] = '/';
        length = (size_t)found + 1;
    }
    snprintf(path + length, PATH_MAX, "%s", name);
    return fate_of(call, path, 0);
}

static Fate fate_of_mapping(const char *call, const void *address) {
    if (!orders) return PASSES;
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 200], path[PATH_MAX] = "";
    unsigned long low, high, at = (unsigned long)address;
    while (maps && fgets(line, sizeof line, maps)) {
        int start = 0;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &low, &high, &start) < 2) continue;
        if (at < low || at >= high || !start) continue;
        snprintf(path, sizeof path, "%.*s", (int)strcspn(line + start, "\n"), line + start);
        break;
    }
    if (maps) REAL(fclose)(maps);
    return fate_of(call, path, 0);
}

#define WRITES(name, fd, parameters, whole, half, size)         \
    ssize_t name parameters {                                   \
        Fate fate = fate_of_fd(#name, fd, size);                \
        if (fate == FAILS) return -1;                           \
        if (fate == PASSES) return REAL(name) whole;            \
        ssize_t wrote = REAL(name) half;                        \
        end_if_ordered();                                       \
        return wrote;                                           \
    }

WRITES(write, fd, (int fd, const void *from, size_t n), (fd, from, n), (fd, from, n / 2), n)
WRITES(pwrite, fd, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at),
       (fd, from, n / 2, at), n)
WRITES(pwrite64, fd, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at),
       (fd, from, n / 2, at), n)
WRITES(sendfile, fd, (int fd, int in, off_t *at, size_t n), (fd, in, at, n), (fd, in, at, n / 2), n)
WRITES(sendfile64, fd, (int fd, int in, off64_t *at, size_t n), (fd, in, at, n),
       (fd, in, at, n / 2), n)
WRITES(copy_file_range, fd,
       (int in, off64_t *in_at, int fd, off64_t *at, size_t n, unsigned flags),
       (in, in_at, fd, at, n, flags), (in, in_at, fd, at, n / 2, flags), n)

static size_t bytes_of(const struct iovec *parts, int count) {
    size_t bytes = 0;
    for (int at = 0; at < count; at++) bytes += parts[at].iov_len;
    return bytes;
}

/* Half of the first part that is not empty. */
static struct iovec half_of(const struct iovec *parts) {
    while (!parts->iov_len) parts++;
    return (struct iovec){parts->iov_base, (parts->iov_len + 1) / 2};
}

#define WRITES_PARTS(name, more, given)                                              \
    ssize_t name(int fd, const struct iovec *parts, int count more) {                \
        Fate fate = fate_of_fd(#name, fd, bytes_of(parts, count));                   \
        if (fate == FAILS) return -1;                                                \
        if (fate == PASSES) return REAL(name)(fd, parts, count given);               \
        struct iovec half = half_of(parts);                                          \
        ssize_t wrote = REAL(name)(fd, &half, 1 given);                              \
        end_if_ordered();                                                            \
        return wrote;                                                                \
    }

#define COMMA ,
WRITES_PARTS(writev, , )
WRITES_PARTS(pwritev, COMMA off_t at, COMMA at)
WRITES_PARTS(pwritev64, COMMA off64_t at, COMMA at)

/* Calls that are done or fail as a whole; `failed` is what they then return. */
#define ACTS(name, fate, parameters, given, failed) \
    int name parameters {                           \
        if (fate == FAILS) return failed;           \
        return REAL(name) given;                    \
    }

ACTS(fsync, fate_of_fd("fsync", fd, 0), (int fd), (fd), -1)
ACTS(fdatasync, fate_of_fd("fdatasync", fd, 0), (int fd), (fd), -1)
ACTS(ftruncate, fate_of_fd("ftruncate", fd, 0), (int fd, off_t to), (fd, to), -1)
ACTS(ftruncate64, fate_of_fd("ftruncate", fd, 0), (int fd, off64_t to), (fd, to), -1)
ACTS(truncate, fate_of_name("truncate", AT_FDCWD, path), (const char *path, off_t to), (path, to), -1)
ACTS(truncate64, fate_of_name("truncate", AT_FDCWD, path), (const char *path, off64_t to),
     (path, to), -1)
ACTS(fallocate, fate_of_fd("fallocate", fd, 0), (int fd, int mode, off_t at, off_t n),
     (fd, mode, at, n), -1)
ACTS(fallocate64, fate_of_fd("fallocate", fd, 0), (int fd, int mode, off64_t at, off64_t n),
     (fd, mode, at, n), -1)
ACTS(posix_fallocate, fate_of_fd("fallocate", fd, 0), (int fd, off_t at, off_t n), (fd, at, n),
     orders->error)
ACTS(posix_fallocate64, fate_of_fd("fallocate", fd, 0), (int fd, off64_t at, off64_t n),
     (fd, at, n), orders->error)
ACTS(msync, fate_of_mapping("msync", at), (void *at, size_t n, int flags), (at, n, flags), -1)
ACTS(mkdir, fate_of_name("mkdir", AT_FDCWD, path), (const char *path, mode_t mode), (path, mode), -1)
ACTS(mkdirat, fate_of_name("mkdir", fd, path), (int fd, const char *path, mode_t mode),
     (fd, path, mode), -1)
ACTS(rename, fate_of_name("rename", AT_FDCWD, to), (const char *from, const char *to), (from, to),
     -1)
ACTS(renameat, fate_of_name("rename", fd, to),
     (int from_fd, const char *from, int fd, const char *to), (from_fd, from, fd, to), -1)
ACTS(renameat2, fate_of_name("rename", fd, to),
     (int from_fd, const char *from, int fd, const char *to, unsigned flags),
     (from_fd, from, fd, to, flags), -1)
ACTS(link, fate_of_name("link", AT_FDCWD, to), (const char *from, const char *to), (from, to), -1)
ACTS(linkat, fate_of_name("link", fd, to),
     (int from_fd, const char *from, int fd, const char *to, int flags),
     (from_fd, from, fd, to, flags), -1)
ACTS(symlink, fate_of_name("symlink", AT_FDCWD, to), (const char *from, const char *to), (from, to),
     -1)
ACTS(symlinkat, fate_of_name("symlink", fd, to), (const char *from, int fd, const char *to),
     (from, fd, to), -1)

#define CHANGES(flags) (((flags) & (O_CREAT | O_TRUNC)) || ((flags) & O_TMPFILE) == O_TMPFILE)

static mode_t mode_in(va_list more, int flags) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
}

#define OPENS(name, folder, parameters, given)                                               \
    int name parameters {                                                                    \
        va_list more;                                                                        \
        va_start(more, flags);                                                               \
        mode_t mode = mode_in(more, flags);                                                  \
        va_end(more);                                                                        \
        if (CHANGES(flags) && fate_of_name("open", folder, path) == FAILS) return -1;        \
        return REAL(name) given;                                                             \
    }

OPENS(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, fd, (int fd, const char *path, int flags, ...), (fd, path, flags, mode))
OPENS(openat64, fd, (int fd, const char *path, int flags, ...), (fd, path, flags, mode))

/* A file is closed even where close() fails. */
int close(int fd) {
    int flags = orders ? fcntl(fd, F_GETFL) : -1;
    Fate fate = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY ? fate_of_fd("close", fd, 0) : PASSES;
    int error = errno, closed = REAL(close)(fd);
    if (fate != FAILS) return closed;
    errno = error;
    return -1;
}

/* The C library writes the buffers of its streams by calls of its own, which nothing preloads. */
size_t fwrite(const void *from, size_t size, size_t n, FILE *stream) {
    Fate fate = fate_of_fd("fwrite", fileno(stream), size * n);
    if (fate == PASSES) return REAL(fwrite)(from, size, n, stream);
    if (fate == FAILS) return 0;
    size_t wrote = REAL(fwrite)(from, size, n / 2, stream);
    end_if_ordered();
    return wrote;
}

int fflush(FILE *stream) {
    if (stream && fate_of_fd("fflush", fileno(stream), 0) == FAILS) return EOF;
    return REAL(fflush)(stream);
}

int fclose(FILE *stream) {
    int flags = orders ? fcntl(fileno(stream), F_GETFL) : -1;
    Fate fate = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY
                    ? fate_of_fd("fclose", fileno(stream), 0)
                    : PASSES;
    int error = errno, closed = REAL(fclose)(stream);
    if (fate != FAILS) return closed;
    errno = error;
    return EOF;
}
