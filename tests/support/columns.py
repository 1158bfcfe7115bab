# SPDX-License-Identifier: MIT
# columns.py make FILE.csv...: the same rows in FILE.h5, each column stored in another way
# columns.py same FILE.csv...: the columns that are not the datasets of FILE.h5
import sys
import h5py
import numpy

def make(path):
    with open(path) as file:
        names = file.readline().strip().split(',')
        rows = [line.strip().split(',') for line in file]
    with h5py.File(path[:-3] + 'h5', 'w') as to:
        to['unknown'] = numpy.arange(3)
        for k, name in enumerate(reversed(names)):
            kind = numpy.uint32 if name == 'mask' else numpy.float32
            column = [row[len(names) - 1 - k] for row in rows]
            column = numpy.array([int(v) if name == 'mask' else float(v) for v in column], kind)
            ways = [{}, {'chunks': (min(1000, len(rows)),)},
                    {'chunks': (min(777, len(rows)),), 'compression': 'gzip', 'shuffle': True}]
            to.create_dataset(name, data=column, **ways[k % 3 if rows else 0])

def same_column(text, data):
    words = h5py.check_enum_dtype(data.dtype)
    if words:
        names = {number: word for word, number in words.items()}
        none = {'none': ''} if 'none' in words else {}
        return [none.get(names[v], names[v]) for v in data[...]] == text
    if data.dtype == numpy.float32:
        numbers = numpy.array([float(v or 'nan') for v in text], numpy.float32)
        return numbers.tobytes() == data[...].tobytes() or numpy.array_equal(numbers, data[...], equal_nan=True)
    none = {'uint8': 255, 'int32': None, 'uint32': None, 'int64': -1}[str(data.dtype)]
    return [int(v) if v else none for v in text] == data[...].tolist()

def same(csv, path):
    with open(csv) as file:
        names = file.readline().strip().split(',')
        rows = [line.rstrip('\n').split(',') for line in file]
    with h5py.File(path, 'r') as data:
        if sorted(data) != sorted(names):
            print(path, 'has', list(data))
        for k, name in enumerate(names):
            column = data[name]
            if column.chunks or column.shape != (len(rows),) or not same_column([row[k] for row in rows], column):
                print(path, name)

if sys.argv[1] == 'make':
    for path in sys.argv[2:]:
        make(path)
else:
    for path in sys.argv[2:]:
        same(path, path[:-3] + 'h5')
