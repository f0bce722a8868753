"""The files of exported C: header, source, a page that explains them, and a self-test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from kinetree.compiler import CUnit
from kinetree.errors import KinetreeError
from kinetree.functions.pipeline import Pipeline
from kinetree.functions.result_tree import flatten
from kinetree.functions.specialization import is_result
from kinetree.interop import c_names
from kinetree.interop.c_functions import BY_THE_WAY, CFunction, Codes, sample
from kinetree.model.tree import Model
from kinetree.ops import Array

README = "README.md"
WRITTEN = "They were written by kinetree."
"""A line of this file."""
SAMPLES, NUMBERS, DRAWS = 3, 20_000, 20
"""States of a self-test, the most numbers for one function, and how many states are drawn for that."""
TOLERANCE = {"double": (1e-11, 1e-6), "float": (2e-3, 2e-2)}
"""The largest difference in a self-test, relative to 1 + the largest result: of formulas, and of solvers."""


@dataclass(frozen=True)
class Files:
    """What the files are made of."""

    name: str
    unit: CUnit
    functions: Sequence[CFunction]
    codes: Codes
    model: Model | None
    """The robot of all functions, if it is one."""

    @property
    def _upper(self) -> str:
        return self.name.upper()

    def texts(self) -> dict[str, str]:
        """The content of every file by its name."""
        return {
            f"{self.name}.h": self.header(),
            f"{self.name}.c": self.source(),
            f"{self.name}_test.c": self.test(),
            README: self.readme(),
        }

    # -- header ------------------------------------------------------------------------------------------------

    def header(self, names: bool = True) -> str:
        """Declarations, codes, sizes and names of joints; without `names`, those are left out."""
        guard = f"{self._upper}_H"
        codes = [f"    {self._upper}_NULL_ARGUMENT = -2, /* a pointer is NULL: only checks say this */"]
        codes += [f"    {self._upper}_NOT_FINITE_ARGUMENT = -1, /* an argument has inf or NaN: only checks say this */"]
        codes += [f"    {self._upper}_OK = 0"]
        for number, (reason, code) in enumerate(self.codes.names.items(), 1):
            codes[-1] += "," if number == 1 else ""
            codes.append(
                f"    {code} = {number}{',' * (number < len(self.codes.names))} /* {c_names.comment(reason)} */"
            )
        lines = [
            f"/* {c_names.comment(self._title())}. Written by kinetree; see README.md. */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            "/* What functions return: zero, or why a state was refused. Results of a refused state mean nothing. */",
            f"enum {self.name}_code {{",
            *codes,
            "};",
            "",
            *self._model_constants(names),
            *(line for function in self.functions for line in self._declared(function)),
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            f"#endif /* {guard} */",
        ]
        defined = [k for k, line in enumerate(lines) if line.startswith("#define ")]
        for k, name in zip(defined, c_names.unique(lines[k].split()[1] for k in defined), strict=True):
            lines[k] = " ".join(("#define", name, *lines[k].split()[2:]))  # in capitals, q and Q are the same
        return "\n".join(lines) + "\n"

    def _title(self) -> str:
        names = ", ".join(function.title for function in self.functions)
        return names if self.model is None else f"{names} of {self.model.name!r}"

    def _model_constants(self, names: bool) -> list[str]:
        """Sizes of the robot, the names of its joints, and where each has its coordinates."""
        if self.model is None:
            return []
        owners = self.model.owners
        words = c_names.unique(c_names.word(joint.name).upper() for joint in owners)
        lines = ["/* The robot: numbers of positions, velocities and joints, and the first index of each joint. */"]
        lines += [f"#define {self._upper}_NQ {self.model.nq}", f"#define {self._upper}_NV {self.model.nv}"]
        lines.append(f"#define {self._upper}_JOINTS {len(owners)}")
        for word, joint in zip(words, owners, strict=True):
            lines += [f"#define {self._upper}_Q_{word} {joint.iq}", f"#define {self._upper}_V_{word} {joint.iv}"]
        if owners and names:
            lines.append(f"extern const char *const {self.name}_joint_names[{self._upper}_JOINTS];")
        return [*lines, ""]

    def _declared(self, f: CFunction) -> list[str]:
        """The comment, the sizes, the declaration and the check of one function."""
        upper, real = f.name.upper(), self.unit.real.name
        about = [f"/* {c_names.comment(f.title)}: row-major arrays that do not overlap."]
        for parameter, (own, shape) in (*f.arguments.items(), *f.results.items()):
            kind = "in" if parameter in f.arguments else "out"
            kind += ", NULL for its default" * (parameter in f.defaults)
            kind += "" if own == parameter else f" ({c_names.comment(own)})"
            about.append(f"   {parameter:<12} {_shape_text(shape):<12} {kind}")
        about[-1] += f"\n   Its workspace on the stack has {f.memory:,} bytes. */"
        sizes = [
            f"#define {upper}_{parameter.upper()}_SIZE {prod(shape)}"
            for parameter, (_, shape) in (*f.arguments.items(), *f.results.items())
        ]
        if isinstance(f.compiled, Pipeline):
            named = {own: parameter for parameter, (own, _) in (*f.arguments.items(), *f.results.items())}
            for array, parts in f.compiled.parts.items():
                words = c_names.unique(c_names.word(part).upper() for part in parts)
                for word, (at, _) in zip(words, parts.values(), strict=True):
                    sizes.append(f"#define {upper}_{named[array].upper()}_{word} {at.start}")
        arguments = [f"const {real} *{parameter}" for parameter in f.arguments]
        results = [f"{real} *{parameter}" for parameter in f.results]
        checked = [parameter for parameter in (*f.arguments, *f.results) if parameter not in f.defaults]
        lines = [
            f"static inline int {f.name}_check({', '.join([*arguments, *(f'const {x}' for x in results)]) or 'void'})"
        ]
        lines += ["{"]
        sized = {p: prod(shape) for p, (_, shape) in f.arguments.items() if prod(shape)}
        if sized:
            lines.append("    int i;")
        if checked:
            lines.append(f"    if ({' || '.join(f'!{parameter}' for parameter in checked)})")
            lines.append(f"        return {self._upper}_NULL_ARGUMENT;")
        for parameter, size in sized.items():
            optional = f"{parameter} && " if parameter in f.defaults else ""
            lines += [
                f"    for (i = 0; {optional}i < {size}; i++)",
                f"        if (!({parameter}[i] - {parameter}[i] == 0))",
                f"            return {self._upper}_NOT_FINITE_ARGUMENT;",
            ]
        lines += [f"    (void){parameter};" for parameter in f.defaults if parameter not in sized]
        lines += [f"    return {self._upper}_OK;", "}", ""]
        return [*about, *sizes, f"int {f.name}({', '.join([*arguments, *results]) or 'void'});", *lines]

    # -- source ------------------------------------------------------------------------------------------------

    def source(self) -> str:
        """All functions."""
        workspace = f"""/* Where functions keep what they work with: on the stack, or with
   -D{self._upper}_WORKSPACE=static at fixed addresses, by which they are no longer reentrant. */
#ifndef {self._upper}_WORKSPACE
#define {self._upper}_WORKSPACE
#endif"""
        texts = [f'#include "{self.name}.h"\n', self.unit.text(), workspace]
        if self.model is not None and self.model.owners:
            names = ", ".join(c_names.string(joint.name) for joint in self.model.owners)
            texts.append(f"const char *const {self.name}_joint_names[{self._upper}_JOINTS] = {{{names}}};")
        return "\n\n".join([*texts, *(self._defined(function) for function in self.functions)]) + "\n"

    def _defined(self, f: CFunction) -> str:
        real = self.unit.real.name
        parameters = [f"const {real} *{p}" for p in f.arguments] + [f"{real} *{p}" for p in f.results]
        lines = []
        for p, value in f.defaults.items():
            lines.append(f"static const {real} default_{p}[] = {{{self._listed(value)}}};")
        for p in f.defaults:
            lines += [f"if (!{p})", f"    {p} = default_{p};"]
        used = _words("\n".join(f.body)) | set(f.defaults)
        lines += [f"(void){p};" for p in (*f.arguments, *f.results) if p not in used]
        body = "\n".join(f"    {line}" for line in (*lines, *f.body, f"return {self._upper}_OK;"))
        return f"int {f.name}({', '.join(parameters) or 'void'})\n{{\n{body}\n}}"

    def _listed(self, array: Array) -> str:
        return ", ".join(self.unit.literal(float(x)) for x in np.ravel(array)) or self.unit.literal(0.0)

    # -- test --------------------------------------------------------------------------------------------------

    def test(self) -> str:
        """A program that compares with numbers of Python, and returns zero if all agree."""
        real, calls, tables = self.unit.real.name, [], []
        for f in self.functions:
            drawn = list(_samples(f))
            if not drawn:
                calls.append(f'    printf("{f.name}: there is no state to test it with\\n");')
            for number, (given, results) in enumerate(drawn):
                names = {p: f"{f.name}_{number}_{p}" for p in (*f.arguments, *f.results)}
                compared = [
                    p
                    for p, (own, _) in f.results.items()
                    if f.is_exact or own.removesuffix("_result") not in BY_THE_WAY
                ]
                for p, array in zip(names, (*given, *results), strict=True):
                    if p in f.results and p not in compared:
                        continue
                    tables.append(f"static const {real} {names[p]}[] = {{{self._listed(array)}}};")
                outs = [f"{real} {p}[{max(1, prod(shape))}] = {{0}};" for p, (_, shape) in f.results.items()]
                listed = ", ".join([*(names[p] for p in f.arguments), *f.results])
                tolerance = TOLERANCE[real][not f.is_exact]
                calls += [
                    "    {",
                    *(f"        {line}" for line in outs),
                    f"        code = {f.name}_check({listed});",
                    "        if (code == 0)",
                    f"            code = {f.name}({listed});",
                    "        if (code != 0) {",
                    f'            printf("{f.name}: code %d\\n", code);',
                    "            failures++;",
                    "        }",
                    *(
                        f'        failures += compare("{f.name}: {p}", {p}, {names[p]}, {prod(f.results[p][1])}, '
                        f"{tolerance:g});"
                        for p in compared
                    ),
                    "    }",
                ]
        compare = f"""static int compare(const char *name, const {real} *found, const {real} *expected, int size,
                   double tolerance)
{{
    double scale = 1.0, worst = 0.0;
    int i;
    for (i = 0; i < size; i++)
        if (fabs((double)expected[i]) > scale)
            scale = fabs((double)expected[i]);
    for (i = 0; i < size && worst == worst; i++)
        if (!(fabs((double)found[i] - (double)expected[i]) <= worst))
            worst = fabs((double)found[i] - (double)expected[i]);
    if (worst <= tolerance * scale)
        return 0;
    printf("%s: differs by %g, where results are as large as %g\\n", name, worst, scale);
    return 1;
}}"""
        lines = [f'#include "{self.name}.h"\n\n#include <math.h>\n#include <stdio.h>\n', *tables, ""]
        if any("compare(" in call for call in calls):
            lines.append(compare)
        lines += ["", "int main(void)", "{", "    int failures = 0;"]
        lines += ["    int code;"] if any("code = " in call for call in calls) else []
        lines += calls
        lines += [f'    printf("{self.name}: %d failures\\n", failures);', "    return failures != 0;", "}"]
        return "\n".join(lines) + "\n"

    # -- page --------------------------------------------------------------------------------------------------

    def readme(self) -> str:
        """How the files are used."""
        name, real = self.name, self.unit.real.name
        rows = []
        for f in self.functions:
            listed = ", ".join(f"`{p}` {_shape_text(shape)}" for p, (_, shape) in f.arguments.items()) or "none"
            out = ", ".join(f"`{p}` {_shape_text(shape)}" for p, (_, shape) in f.results.items())
            rows.append(f"| `{f.name}` | {listed} | {out} | {f.memory:,} |")
        codes = [f"| {k} | `{code}` | {reason} |" for k, (reason, code) in enumerate(self.codes.names.items(), 1)]
        return f"""# {name}

{self._title()}, in C99 for numbers of type `{real}`: `{name}.h` and `{name}.c` need the C library's `math.h`
and nothing else, and allocate no memory. {WRITTEN}

```
cc -std=c99 -O3 -march=native -c {name}.c
cc -std=c99 {name}_test.c {name}.c -lm -o {name}_test && ./{name}_test
```

| function | arguments | results | bytes of its workspace |
|---|---|---|---|
{chr(10).join(rows)}

Arrays are flat and row-major; arguments come in the order of the call in Python, then results. Results must not overlap
arguments. Functions keep nothing between calls, and may run in several threads at once.

Each function returns 0, or says why the state was refused:

| code | name | reason |
|---|---|---|
{chr(10).join(codes) or "| | | there is none |"}

`NAME_check(…)`, with the same arguments, is -2 for a pointer that is NULL, -1 for an argument that is not finite.

A product and a sum are rounded once (`fma`) where the CPU is said to be fast at it, with `-march=native` for example;
`-D{self._upper}_FMA=1` always, `=0` never. With 1, and with `-ffp-contract=off`, formulas give the bits that kinetree
gives on a CPU with fused multiply-add; else results differ by rounding.
"""


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


def _shape_text(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))})" if shape else "a number"


def _samples(f: CFunction) -> Iterable[tuple[list[Array], list[Array]]]:
    """Arguments and results of a few states that are not refused."""
    rng = np.random.default_rng(0)
    size = sum(prod(shape) for _, shape in f.results.values())
    wanted = max(1, min(SAMPLES, NUMBERS // max(1, size)))
    for _ in range(DRAWS):
        given = sample(f.compiled, {own: f.defaults[p] for p, (own, _) in f.arguments.items() if p in f.defaults}, rng)
        try:
            results = flatten(f.compiled.evaluate(given, f.key.options), is_result)[0]
        except (KinetreeError, ArithmeticError):
            continue
        if wanted and all(np.isfinite(result).all() for result in results):
            wanted -= 1
            yield given, results
        if not wanted:
            return
