#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpu_offline.py FOLDER LIMITS [PROGRAM...]: compiles the programs that program_files has put into FOLDER, all or those
that are named, for GPUs that need not be there, and looks in the machine code for what breaks the bits or the speed.
LIMITS says what each may take.

A line [       OK ] or [  FAILED  ] for each program, then for each control: a program that is built wrongly on purpose,
and must be refused. The figures stand in FOLDER/figures.txt."""

import concurrent.futures
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

CLANG = os.environ.get('CLANG', 'clang-19')
LIBRARIES = pathlib.Path('/usr/lib/clc')  # of the built-in functions
NVIDIA, AMD = ('sm_80', 'sm_90'), ('gfx90a', 'gfx942')
REGISTERS_OF_A_BLOCK, WARPS_OF_A_BLOCK = 65536, 64  # of an NVIDIA multiprocessor, sm_80 and sm_90
LOCAL_MEMORY = 14 << 10  # of a warp whose work-items share queries: 16 warps fit a multiprocessor
FIGURES = ('stack', 'registers', 'vgpr', 'scratch', 'waves', 'spills', 'minima')


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def count(pattern, text):
    return len(re.findall(pattern, text))


def last_number(pattern, text, default=0):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else default


class Program:
    """One program, one compilation for each target, and the faults that were found."""

    def __init__(self, text, options, output, limits):
        self.text, self.options, self.output, self.limits = text, options, output, limits
        # AMD's driver hands clang what follows -Wf, with spaces for commas.
        self.amd = [part for word in text.with_suffix('.amd').read_text().split()
                    for part in word.removeprefix('-Wf,').split(',')]
        self.may_fuse = '-DLANG_ALLOW_FMA' in options
        self.shares_queries = any(word.startswith('-DMESH_ITEMS') for word in options)
        self.faults, self.figures = [], {}

    def fault(self, target, what):
        self.faults.append(f'{target}: {what}')

    def take(self, target, figure, value):
        """Keeps the worst of all targets, and compares it with the limit: waves are to be many, the rest few."""
        worse = min if figure == 'waves' else max
        self.figures[figure] = worse(self.figures.get(figure, value), value)
        limit = self.limits[figure]
        if worse(value, limit) != limit:
            self.fault(target, f"{figure} {value}, {'at least' if figure == 'waves' else 'at most'} {limit}")

    def compile(self, target, triple, cpu, library, suffix):
        """The assembly text, or None."""
        assembly = self.output.with_name(f'{self.output.name}.{target}.{suffix}')
        words = [CLANG, *self.options, '-x', 'cl', '-Xclang', '-finclude-default-header', '-Wno-linker-warnings',
                 '-Wno-unused-command-line-argument', '-O3', '-S', '-target', triple, *cpu, '-nogpulib', '-Xclang',
                 '-mlink-builtin-bitcode', '-Xclang', LIBRARIES / library, '-Werror', self.text, '-o', assembly]
        built, log = run(*words)
        if not built:
            self.fault(target, 'is not built: ' + (log.splitlines() or ['no reason'])[0])
            return None
        return assembly

    def check_nvidia(self, target):
        # sm_80's features suffice for all: what differs is what ptxas makes of it.
        cpu = ['-Xclang', '-target-cpu', '-Xclang', target, '-Xclang', '-target-feature', '-Xclang', '+ptx78']
        assembly = self.compile(target, 'nvptx64-nvidia-nvcl', cpu, 'nvptx64--nvidiacl.bc', 'ptx')
        if assembly is None:
            return
        ptx = assembly.read_text()
        if not self.may_fuse and count(r'\bfma\.rn\.f(32|64)', ptx) > 0:
            self.fault(target, 'a fused multiply-add')
        # Without a rounding in its name, ptxas may fuse it with another.
        if not self.may_fuse and count(r'\b(add|sub|mul)\.f(32|64)\b', ptx) > 0:
            self.fault(target, 'an operation that may be fused later')
        if count(r'\.(approx|full)\b', ptx) > 0:
            self.fault(target, 'an approximate quotient or root')
        if count(r'\.ftz\b', ptx) > 0:
            self.fault(target, 'denormals are flushed')
        # Of +0 and -0 the hardware takes -0 for the minimum and +0 for the maximum, whatever the source says.
        self.take(target, 'minima', count(r'\bmin\.(?:NaN\.)?f32\s[^;]*, 0f00000000;', ptx) +
                  count(r'\bmax\.(?:NaN\.)?f32\s[^;]*, 0f80000000;', ptx))
        # Where work-items share queries, v_lesser and v_greater are these. The solver's own stand in NAME_alone too.
        if not self.shares_queries and count(r'\b(min|max)\.(?:NaN\.)?f(32|64)\s+%\w+, %\w+, %', ptx) > 0:
            self.fault(target, 'a minimum of the hardware of two numbers, whose zeros may differ in sign')
        self.take(target, 'stack', max((int(n) for n in re.findall(r'__local_depot\d+\[(\d+)\]', ptx)), default=0))
        if shutil.which('ptxas'):
            self.check_ptxas(target, assembly)

    def check_ptxas(self, target, assembly):
        # Where work-items share queries, the limit that NVIDIA's compiler is given must cost nothing.
        limit = ['-maxrregcount=128'] if self.shares_queries else []
        built, log = run('ptxas', f'-arch={target}', '-v', *limit, assembly, '-o', '/dev/null')
        if not built:
            self.fault(target, 'ptxas: ' + (log.splitlines() or ['no reason'])[0])
            return
        self.take(target, 'spills', max(map(int, re.findall(r'(\d+) bytes spill (?:stores|loads)', log)), default=0))
        if self.shares_queries and last_number(r'(\d+) bytes smem', log) > LOCAL_MEMORY:
            self.fault(target, f'more than {LOCAL_MEMORY} bytes of local memory')
        registers = last_number(r'Used (\d+) registers', log)
        self.take(target, 'registers', registers)
        # Registers are given to a warp of 32 by eights for each lane; a warp in four at a time.
        per_warp = 32 * 8 * math.ceil(registers / 8)
        self.figures['warps'] = min(WARPS_OF_A_BLOCK, REGISTERS_OF_A_BLOCK // per_warp // 4 * 4)

    def check_amd(self, target):
        cpu = [f'-mcpu={target}', *self.amd]
        assembly = self.compile(target, 'amdgcn-amd-amdhsa', cpu, 'amdgcn--amdhsa.bc', 's')
        if assembly is None:
            return
        code = assembly.read_text()
        # A correctly rounded quotient has six fused operations, or five with the one that scales (v_div_fmas); a root
        # has two. More of them are the program's own.
        fused = count(r'\bv_(?:fma|fmac|fmamk|fmaak|pk_fma)_f32', code)
        quotients, roots = count(r'\bv_div_fmas_f32', code), count(r'\bv_sqrt_f32', code)
        if not self.may_fuse and fused not in (5 * quotients + 2 * roots, 6 * quotients + 2 * roots):
            self.fault(target, f'{fused} fused operations, {quotients} quotients, {roots} roots')
        if count(r'\bv_rcp_(?:iflag_)?f32', code) > quotients + count(r'\bv_cvt_f32_u32', code):
            self.fault(target, 'an approximate quotient')
        if count(r'\bv_(mad|mac)_f32', code) > 0:
            self.fault(target, 'a multiply-add that flushes denormals')
        if '3' * 2 != ''.join(re.findall(r'\.amdhsa_float_denorm_mode_(?:32|16_64) (\d)', code)):
            self.fault(target, 'denormals are flushed')
        self.take(target, 'spills', last_number(r'\.vgpr_spill_count:\s+(\d+)', code))
        self.take(target, 'vgpr', last_number(r'\.vgpr_count:\s+(\d+)', code))
        self.take(target, 'scratch', last_number(r'; ScratchSize: (\d+)', code))
        self.take(target, 'waves', last_number(r'; Occupancy: (\d+)', code))

    def check(self):
        for target in NVIDIA:
            self.check_nvidia(target)
        if not self.shares_queries: # such programs are not for AMD: its local memory would hold too few groups
            for target in AMD:
                self.check_amd(target)
        return self


def read_limits(path):
    """{program: {figure: limit}}: a line for each program, those of `*` for all others."""
    limits = {}
    for line in path.read_text().splitlines():
        words = line.split('#')[0].split()
        if words:
            name, *numbers = words
            limits[name] = dict(zip(FIGURES, map(int, numbers), strict=True))
    return limits


def controls(folder, limits):
    """Programs built wrongly on purpose, each with a word of the fault that must be found."""
    generous = {figure: 0 if figure == 'waves' else 1 << 30 for figure in FIGURES}
    text = folder / 'sweep_times.cl'
    options = text.with_suffix('.options').read_text().split()
    fused = Program(text, options + ['-DLANG_ALLOW_FMA'], folder / 'control_fused', generous)
    fused.may_fuse = False
    rounded = [word for word in options if 'correctly-rounded' not in word]
    strict = Program(folder / 'mesh_first_alone.cl', (folder / 'mesh_first_alone.options').read_text().split(),
                     folder / 'control_limits', generous | {'stack': 0, 'scratch': 0})
    return {
        'contraction is found': (fused, 'fuse'),
        'a quotient that is not correctly rounded is found':
            (Program(text, rounded, folder / 'control_rounding', generous), 'quotient'),
        'flushed denormals are found':
            (Program(text, options + ['-cl-denorms-are-zero'], folder / 'control_denormals', generous), 'flushed'),
        'a stack above its limit is found': (strict, 'stack'),
    }


def main():
    folder, limits = pathlib.Path(sys.argv[1]), read_limits(pathlib.Path(sys.argv[2]))
    names = sorted(path.stem for path in folder.glob('*.options'))
    unknown = set(limits) - set(names) - {'*'}
    names = sys.argv[3:] or names
    programs = {name: Program(folder / f'{name}.cl', (folder / f'{name}.options').read_text().split(), folder / name,
                              limits.get(name, limits['*'])) for name in names}
    wrong = controls(folder, limits)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(Program.check, [*programs.values(), *(program for program, _ in wrong.values())]))

    failed = 0

    def say(name, faults):
        nonlocal failed
        for fault in faults:
            print(f'[  ERROR   ] {name}: {fault}')
        failed += bool(faults)
        print(f"[{'  FAILED  ' if faults else '       OK '}] {name}")

    for name, program in programs.items():
        say(name, program.faults)
    for name, (program, word) in wrong.items():
        say(name, [] if any(word in fault for fault in program.faults) else ['it was not'])
    say('the limits name programs', [f'{name} is none' for name in sorted(unknown)])
    if not shutil.which('ptxas'):
        print("[  SKIPPED ] registers and spills on NVIDIA: no ptxas (it comes with NVIDIA's CUDA toolkit)")
    with open(folder / 'figures.txt', 'w', encoding='utf-8') as table:
        columns = (*FIGURES, 'warps')
        print(f"{'program':28}" + ''.join(f'{column:>10}' for column in columns), file=table)
        for name, program in programs.items():
            print(f'{name:28}' + ''.join(f"{program.figures.get(column, '-'):>10}" for column in columns), file=table)
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
