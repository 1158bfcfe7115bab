/* SPDX-License-Identifier: MIT */
#include "journal.h"
#include "side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 16, RECORD = 24, RECORDS_AT_ONCE = 1024 };
static const char magic[8] = {'c', 'a', 'r', 'o', 'm', 'j', 'n', '1'};

int bake_journal_is_caroms(int fd)
{
    return side_is_caroms(fd, magic, sizeof magic);
}

/* Magic, length of the text, text, checksum of all that. */
void bake_journal_read(bake_journal *j, int fd)
{
    unsigned char head[HEAD + BAKE_TEXT + 8];
    struct stat info;
    *j = (bake_journal){.fd = fd};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < HEAD || cli_read_at(fd, head, HEAD, 0) != 0 ||
        memcmp(head, magic, sizeof magic) != 0)
        return;
    const uint64_t length = bake_get64(head + 8);
    if (length >= BAKE_TEXT || cli_read_at(fd, head + HEAD, (size_t)length + 8, HEAD) != 0)
        return;
    j->seed = bake_checksum(head, HEAD + (size_t)length, 0);
    if (bake_get64(head + HEAD + length) != j->seed)
        return;
    memcpy(j->text, head + HEAD, (size_t)length);
    j->is_valid = 1;
    j->is_readable = bake_fingerprint_read(j->text, &j->plan);
    j->size = (uint64_t)info.st_size;
    j->start = j->end = HEAD + length + 8;
    if (j->size > j->end)
        j->end += (j->size - j->end) / RECORD * RECORD;
}

static void take_record(const bake_journal *j, const unsigned char *record, uint8_t *done, uint64_t *sums,
                        uint64_t *count)
{
    const uint64_t slab = bake_get64(record), at = slab - j->plan.begin;
    if (bake_get64(record + 16) != bake_checksum(record, 16, j->seed))
        return;
    if (slab < j->plan.begin || slab >= j->plan.end)
        return;
    *count += !done[at];
    done[at] = 1;
    if (sums)
        sums[at] = bake_get64(record + 8);
}

uint64_t bake_journal_records(const bake_journal *j, uint8_t *done, uint64_t *sums)
{
    unsigned char records[RECORDS_AT_ONCE * RECORD];
    uint64_t count = 0;
    for (uint64_t at = j->start; at < j->end;) {
        const uint64_t left = j->end - at, size = left < sizeof records ? left : sizeof records;
        if (cli_read_at(j->fd, records, (size_t)size, at) != 0)
            break; /* the slabs are computed again */
        for (uint64_t i = 0; i < size; i += RECORD)
            take_record(j, records + i, done, sums, &count);
        at += size;
    }
    return count;
}

uint64_t bake_journal_record_count(const bake_journal *j)
{
    return (j->end - j->start) / RECORD;
}

int bake_journal_record(const bake_journal *j, uint64_t i, uint64_t record[2])
{
    unsigned char bytes[RECORD];
    const uint64_t at = j->start + i * RECORD;
    if (at + RECORD > j->end || cli_read_at(j->fd, bytes, RECORD, at) != 0 ||
        bake_get64(bytes + 16) != bake_checksum(bytes, 16, j->seed))
        return 0;
    record[0] = bake_get64(bytes);
    record[1] = bake_get64(bytes + 8);
    return 1;
}

int bake_journal_complete(const bake_journal *j, uint64_t *sum)
{
    uint64_t record[2];
    for (uint64_t i = bake_journal_record_count(j); i-- > 0;)
        if (bake_journal_record(j, i, record)) {
            *sum = record[1];
            return record[0] == BAKE_JOURNAL_COMPLETE;
        }
    return 0;
}

int bake_journal_cut(bake_journal *j, uint64_t records)
{
    j->end = j->start + records * RECORD;
    return ftruncate(j->fd, (off_t)j->end) == 0 ? 0 : errno;
}

int bake_journal_begin(bake_journal *j, const char *text)
{
    unsigned char head[HEAD + BAKE_TEXT + 8];
    const size_t length = strlen(text);
    memcpy(head, magic, sizeof magic);
    bake_put64(head + 8, length);
    memcpy(head + HEAD, text, length);
    j->seed = bake_checksum(head, HEAD + length, 0);
    bake_put64(head + HEAD + length, j->seed);
    j->start = j->end = HEAD + length + 8;
    return cli_write_at(j->fd, head, HEAD + length + 8, 0);
}

int bake_journal_add(bake_journal *j, uint64_t slab, uint64_t sum)
{
    unsigned char record[RECORD];
    bake_put64(record, slab);
    bake_put64(record + 8, sum);
    bake_put64(record + 16, bake_checksum(record, 16, j->seed));
    const int error = cli_write_at(j->fd, record, RECORD, j->end);
    j->end += error ? 0 : RECORD;
    return error;
}
