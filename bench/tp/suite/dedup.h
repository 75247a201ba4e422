/* dedup KILOBYTES GROUP --output FILE: compresses a stream by leaving out what it has seen. The root cuts chunks serially and
 * creates a task for each that refines, deduplicates and compresses it; after every GROUP chunks it waits, then creates one task
 * that writes those in order beside the next GROUP. Writes to memory, or to a file that is closed and synced in the end. */
#ifndef SUITE_DEDUP_H
#define SUITE_DEDUP_H

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "suite.h"

namespace dedup {
using namespace suite;

typedef std::vector<unsigned char> Bytes;

static const long COARSE = 16384;

struct Piece {
    u64 digest;
    Bytes compressed; /* empty: seen before */
};

/* Digests seen, in 64 parts with a lock each. */
struct Seen {
    std::array<std::mutex, 64> locks;
    std::array<std::map<u64, bool>, 64> parts;

    bool first(u64 digest) {
        const std::size_t part = digest % 64;
        std::lock_guard<std::mutex> hold(locks[part]);
        return parts[part].insert({digest, true}).second;
    }
};

static u64 digest_of(const unsigned char *from, long count) {
    u64 sum = static_cast<u64>(count);
    for (long i = 0; i < count; i++)
        sum = (sum ^ from[i]) * 0x100000001b3u;
    return mixed(sum);
}

/* Where the content says that a fine chunk ends: at about every 1024th byte, and at 4096 at most. */
static long fine_end(const Bytes &in, long from, long end) {
    u64 rolling = 0;
    for (long i = from; i < end; i++) {
        rolling = rolling * 31 + in[at(i)] + 1;
        if (i - from >= 255 && (mixed(rolling) % 1024 == 0 || i - from >= 4095))
            return i + 1;
    }
    return end;
}

/* Literals and copies: a byte with the count of literals, they, then length and distance of a copy (length 0: none). */
static Bytes compress(const unsigned char *in, long count) {
    Bytes out;
    std::vector<long> last(1024, -1);
    long literal = 0, i = 0;
    const auto flush = [&](long length, long distance) {
        out.push_back(static_cast<unsigned char>(i - literal));
        out.insert(out.end(), in + literal, in + i);
        out.push_back(static_cast<unsigned char>(length));
        out.push_back(static_cast<unsigned char>(distance & 255));
        out.push_back(static_cast<unsigned char>(distance >> 8));
    };
    while (i < count) {
        long length = 0, from = -1;
        if (i + 4 <= count) {
            std::uint32_t four;
            std::memcpy(&four, in + i, 4);
            long &slot = last[at(four * 2654435761u >> 22)];
            from = slot;
            slot = i;
            while (from >= 0 && i + length < count && length < 255 && in[from + length] == in[i + length])
                length++;
        }
        if (length >= 5) {
            flush(length, i - from);
            i += length;
            literal = i;
        } else if (++i - literal == 255) {
            flush(0, 0);
            literal = i;
        }
    }
    flush(0, 0);
    return out;
}

static Bytes expand(const Bytes &in) {
    Bytes out;
    for (std::size_t i = 0; i < in.size();) {
        const std::size_t literals = in[i++];
        out.insert(out.end(), in.begin() + static_cast<std::ptrdiff_t>(i), in.begin() + static_cast<std::ptrdiff_t>(i + literals));
        i += literals;
        const std::size_t length = in[i], distance = in[i + 1] + in[i + 2] * 256u;
        i += 3;
        for (std::size_t k = 0; k < length; k++)
            out.push_back(out[out.size() - distance]);
    }
    return out;
}

static std::vector<Piece> refined(Seen &seen, const Bytes &in, long from, long end) {
    std::vector<Piece> pieces;
    while (from < end) {
        const long to = fine_end(in, from, end);
        Piece piece = {digest_of(&in[at(from)], to - from), {}};
        if (seen.first(piece.digest))
            piece.compressed = compress(&in[at(from)], to - from);
        pieces.push_back(piece);
        from = to;
    }
    return pieces;
}

/* The archive: of each piece its digest, and its bytes where it is new. */
struct Archive {
    int file;
    std::vector<Piece> pieces;
    long bytes;

    void append(const std::vector<std::vector<Piece>> &group) {
        for (const std::vector<Piece> &chunk : group)
            for (const Piece &piece : chunk) {
                bytes += 8 + static_cast<long>(piece.compressed.size());
                if (file >= 0 && (write(file, &piece.digest, 8) != 8 ||
                                  write(file, piece.compressed.data(), piece.compressed.size()) < 0))
                    std::perror("dedup");
                pieces.push_back(piece);
            }
    }
};

static void run_pipeline(const Bytes &in, long group_size, Seen &seen, Archive &archive) {
    const long size = static_cast<long>(in.size());
    std::vector<std::vector<Piece>> working, writing;
    TP_TASKS(tasks);
    for (long from = 0; from < size;) {
        working.assign(at(group_size), {});
        for (long i = 0; i < group_size && from < size; i++) {
            /* The serial stage: where the next coarse chunk ends. */
            long to = std::min(size, from + COARSE);
            while (to < size && digest_of(&in[at(to - 8)], 8) % 256 != 0)
                to++;
            std::vector<Piece> *out = &working[at(i)];
            const Bytes *all = &in;
            Seen *digests = &seen;
            TP_CREATE(tasks, [=] { *out = refined(*digests, *all, from, to); });
            from = to;
        }
        TP_WAIT(tasks);
        writing.swap(working);
        const std::vector<std::vector<Piece>> *done = &writing;
        Archive *to = &archive;
        TP_CREATE(tasks, [=] { to->append(*done); });
    }
    TP_WAIT(tasks);
    if (archive.file >= 0) {
        fsync(archive.file);
        close(archive.file);
    }
}

static bool restores(const Archive &archive, const Bytes &in) {
    std::map<u64, Bytes> known;
    for (const Piece &piece : archive.pieces)
        if (!piece.compressed.empty())
            known[piece.digest] = expand(piece.compressed);
    Bytes out;
    for (const Piece &piece : archive.pieces)
        out.insert(out.end(), known[piece.digest].begin(), known[piece.digest].end());
    return out == in;
}

static bool run(const Arguments &arguments) {
    const long size = arguments.number(0) * 1024, group = std::max(arguments.number(1), 1l);
    Bytes in(at(size));
    for (long i = 0; i < size; i++) {
        /* Pages of a few letters, every second one seen before. */
        const u64 page = static_cast<u64>(i / 8192), source = page % 2 == 1 ? mixed(page) % (page / 2 + 1) * 2 : page;
        in[at(i)] = static_cast<unsigned char>('a' + mixed(source * 8192 + static_cast<u64>(i % 8192) / 3) % 6);
    }
    Seen seen;
    const std::string name = arguments.option("output", "");
    const int file = name.empty() ? -1 : open(name.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    Archive archive{file, {}, 0};
    timed(arguments, [&] { run_pipeline(in, group, seen, archive); });
    const bool correct = !arguments.check() || restores(archive, in);
    return say(correct, "deduplicated %ld bytes to %ld, %ld pieces", size, archive.bytes, static_cast<long>(archive.pieces.size()));
}

static const Program PROGRAM = {"dedup", "[KILOBYTES] [GROUP] [--output FILE]", {{512, 4}}, {{32768, 27}}, {{196608, 27}}, run};
} // namespace dedup

#endif
