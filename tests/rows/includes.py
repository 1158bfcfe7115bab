#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""includes.py: holds the table of folders in docs/architecture.md against the #includes of their files.

A row names a folder and those that it uses. The folder's files may include these, and all that these use in turn. A row
names folders above it alone, so there are no circles, and only such as its files include."""
import pathlib
import re
import sys

DOCUMENT = 'docs/architecture.md'
# Rows that are held: these folders and all below them.
HELD = ('kernels', 'calls', 'cpu', 'host', 'reference', 'queries', 'bench', 'cli')


def rows(document):
    """Yields the folders of a row and those that it uses, without the last slash."""
    section = document.split('\n## Which folder uses which\n')[1].split('\n## ')[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip('|').split(' | ')]
        names = re.findall(r'`([\w/]+)/`', cells[0]) if line.startswith('| `') and len(cells) == 3 else []
        used = re.findall(r'`([\w/]+)`', cells[-1]) + ['include'] * ('the public header' in cells[-1])
        for name in names:
            yield name, used


def room_of(path, rooms):
    """The deepest of the folders that the file is in; None: it is in none."""
    return max((r for r in rooms if path.startswith(r + '/')), key=len, default=None)


def included(file, rooms):
    """The folders whose files this one includes."""
    for name in re.findall(r'^\s*#\s*include ["<]([^">]+)[">]', file.read_text(), re.M):
        for path in (file.parent / name, pathlib.Path(name), pathlib.Path('include') / name):
            if path.exists():
                yield room_of(path.as_posix(), rooms)
                break


wrong = []
table = dict(rows(pathlib.Path(DOCUMENT).read_text()))


def reach(room):
    """All folders that it may include."""
    return set(table.get(room, [])).union(*(reach(r) for r in table.get(room, []) if above(r, room)))


def above(room, other):
    return room in table and list(table).index(room) < list(table).index(other)


held = [room for room in table if room.split('/')[0] in HELD]
real = {room: {} for room in held}
for top in HELD:
    for file in sorted(f for f in pathlib.Path(top).rglob('*') if f.suffix in ('.c', '.h', '.cl', '.cpp')):
        room = file.parent.as_posix()
        if room not in table:
            wrong.append(f'{file}: its folder has no row')
            continue
        for other in set(included(file, table)) - {room, None}:
            real[room].setdefault(other, file)
for room in held:
    may = reach(room)
    wrong += [f'{real[room][o]}: includes {o}/, which is no use of {room}/' for o in real[room] if o not in may]
    wrong += [f'{room}/: no file of it includes {o}/' for o in table[room] if o not in real[room]]
    wrong += [f'{room}/: uses {o}/, whose row is not above' for o in table[room] if not above(o, room)]
print('\n'.join(f'{DOCUMENT}: {line}' for line in wrong) or f'{len(held)} folders')
sys.exit(bool(wrong))
