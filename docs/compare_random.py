"""Compares bin/ebb with DuckDB on random pipelines over random files, at parallelism 1, 2 and 3.

    make compare-random FLAGS="--seed FIRST --cases N --keep-going"

Each case lies in .bench/random: the files, script.ebb, query.sql (with its macros, for `duckdb < query.sql`). Rows are
compared as multisets, in order after a sort; floats to 1e-9. A difference is made smaller by leaving out stages and rows.
"""

import argparse
import datetime
import glob
import json
import math
import os
import random
import re
import subprocess
import sys

import duckdb

from compare_exprs import MACROS, TEXTS, TIMES, expr, span

DIR = ".bench/random"
BASE = {"id": "int", "k": "string", "v": "int", "big": "int", "f": "float", "b": "bool", "s": "string", "u": "time", "xs": "[int]", "ys": "[string]", "at": "time"}
DUCK = {"int": "BIGINT", "float": "DOUBLE", "bool": "BOOLEAN", "string": "VARCHAR", "time": "TIMESTAMP", "[int]": "BIGINT[]", "[string]": "VARCHAR[]"}
NAMES = ["x", "y", "z", "by", "key", "count", "a b", "größe", "rows", "last", "not", "1st", "n-1"]
RESERVED = {"not"}
KEYS = ("int", "string", "bool", "time", "window", "float")
LISTS = ("[int]", "[string]")


def quoted(name):
    """A column in Ebb and in SQL."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name) and name not in RESERVED
    return name if plain else '@"' + name + '"', '"' + name + '"'


class Data:
    """Files of random rows, none of them later than the lag of the source."""

    def __init__(self, r):
        self.kind = r.choice(["csv", "jsonl"])
        self.lag = r.choice([0, 1, 5, 20])
        self.timed = r.random() < 0.8
        self.end = r.choice(["\n", "\n", "\r\n"])
        self.files = []
        clock = r.choice([0, 1_700_000_000, -50, 1_774_745_990]) * 10**6
        n = 0
        for _ in range(r.randint(1, 3)):
            rows, high = [], None
            for _ in range(r.choice([0, 1, 5, 30, 80, 2000 if r.random() < 0.02 else 10])):
                clock += r.randint(0, 3000) * 1000 + (r.random() < 0.03) * 100_000_000
                at = clock - r.randint(0, 20_000) * 1000
                if high is not None:
                    at = max(at, high - self.lag * 10**6)
                high = at if high is None else max(high, at)
                rows.append(self.row(r, n, at))
                n += 1
            self.files.append(rows)

    def row(self, r, n, at):
        maybe = lambda x: None if r.random() < 0.12 else x
        stamp = lambda us: (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=us)).isoformat() + "Z"
        numbers = [r.randint(-40, 40) / 4, r.randint(0, 8) / 4, 0.0, -0.0, 0.1]
        if self.kind == "csv":
            numbers += [math.nan, math.inf, -math.inf] if r.random() < 0.3 else []
        return {
            "id": n, "k": maybe(r.choice(["a", "b", "añb", "", "A"])), "v": maybe(r.choice([r.randint(-5, 9), r.randint(0, 3), 0])),
            "big": maybe(r.choice([r.getrandbits(63), -r.getrandbits(63), 2**63 - 1, -(2**63), 2**53 + r.randint(-2, 2), r.randint(-9, 9)])),
            "f": maybe(r.choice(numbers)), "b": maybe(r.random() < 0.5), "s": maybe(r.choice(TEXTS)),
            "u": maybe(r.choice([r.choice(TIMES), stamp(r.randint(-4 * 10**14, 2 * 10**15))])),
            "xs": maybe([maybe(r.randint(-3, 9)) for _ in range(r.randint(0, 4))]), "ys": maybe([r.choice(TEXTS) for _ in range(r.randint(0, 3))]),
            "at": stamp(at),
        }

    def write(self):
        os.makedirs(DIR, exist_ok=True)
        for path in glob.glob(DIR + "/*"):
            os.remove(path)
        for i, rows in enumerate(self.files):
            with open(f"{DIR}/e{i}.{self.kind}", "w", newline="") as f:
                f.write(self.text(rows))

    def text(self, rows):
        if self.kind == "jsonl":
            some = lambda x: {c: v for c, v in (reversed(x.items()) if x["id"] % 3 else x.items()) if v is not None or x["id"] % 5}
            return "".join(json.dumps(some(x), ensure_ascii=x["id"] % 2 == 0) + self.end for x in rows)
        field = lambda v: "" if v is None else '"' + v.replace('"', '""') + '"' if isinstance(v, str) else field(json.dumps(v)) if isinstance(v, list) else str(v)
        return "".join(",".join(r) + self.end for r in [list(BASE)] + [[field(v) for v in x.values()] for x in rows])

    def source(self):
        schema = ", ".join(f"{c}: {t.replace('int]', 'int?]')}" + "?" * (c not in ("id", "at")) for c, t in BASE.items())
        return f'source e = {self.kind}("{DIR}/e*.{self.kind}")\n    schema {{ {schema} }}' + (f"\n    time at lag {self.lag}s" if self.timed else "")

    def tables(self):
        listed = [c for c in BASE if self.kind == "csv" and BASE[c][0] == "["]  # lists in CSV are JSON
        columns = "{" + ", ".join(f"'{c}': '{'JSON' if c in listed else DUCK[t]}'" for c, t in BASE.items()) + "}"
        reader = {"csv": "read_csv({}, header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', allow_quoted_nulls = false, columns = {})", "jsonl": "read_json({}, format = 'newline_delimited', columns = {})"}[self.kind]
        reads = "\n  UNION ALL ".join(f"SELECT *, {i} AS _f, row_number() OVER () AS _n FROM " + reader.format(f"'{DIR}/e{i}.{self.kind}'", columns) for i in range(len(self.files)))
        time = 'ns("at")' if self.timed else "NULL::BIGINT"
        cast = "REPLACE (" + ", ".join(f"{c}::{DUCK[BASE[c]]} AS {c}" for c in listed) + ")" if listed else ""
        # _t is the event time in nanoseconds, _p the place in the input
        return f"CREATE OR REPLACE TABLE e AS SELECT * EXCLUDE (_f, _n) {cast}, {time} AS _t, (_f * 100000 + _n) * 1000 AS _p FROM (\n  {reads}\n)"


class Case:
    """A script and its query; each Pipe of it adds to both."""

    def __init__(self, data):
        self.data, self.streams, self.ctes = data, [], []

    def cte(self, select):
        self.ctes.append(select)
        return f"q{len(self.ctes)}"

    def stream(self, pipe):
        self.streams.append(f"stream s{len(self.streams) + 1} = " + pipe.ebb)
        return f"s{len(self.streams)}"


class Pipe:
    """A pipeline in the making: its text, the query that gives its rows, and what is known of them."""

    def __init__(self, case):
        self.case, self.ebb, self.sql = case, "e", "e"
        self.cols = dict(BASE)
        self.timed = case.data.timed  # rows have an event time
        self.ordered = True  # rows of equal time have an order
        self.changes = False  # updating
        self.fine = False  # its windows have nanoseconds, which a TIMESTAMP of DuckDB has not
        self.sorted = None  # SQL of the order at the end
        self.rough = set()  # float columns that hang on the order of additions

    def add(self, ebb, select):
        self.ebb += "\n    |> " + ebb
        self.sql = self.case.cte(select.replace("FROM _", "FROM " + self.sql))

    def refs(self):
        out = {}
        for c, t in self.cols.items():
            e, s = quoted(c)
            if t == "window" and not self.fine:
                out[f"{e}.start", f"{s}.start::TIMESTAMP"] = out[f"{e}.end", f'{s}."end"::TIMESTAMP'] = "time"
            elif t != "window":
                out[e, s] = t
        return out

    def expr(self, r, kind, depth=None, inside=False):
        refs = {(e, s): t for (e, s), t in self.refs().items() if not (inside and s.strip('"') in self.rough)}
        return expr(r, refs, kind, r.choice([0, 1, 1, 2, 3]) if depth is None else depth, inside)

    def fresh(self, r):
        return r.choice([n for n in NAMES if n not in self.cols])

    def keys(self, r, most=2):
        """Keys of a stage that takes columns: names, Ebb, SQL."""
        names = [c for c, t in self.cols.items() if t in KEYS and c not in self.rough]
        names = r.sample(names, min(len(names), r.randint(0, most)))
        return names, ", ".join(quoted(n)[0] for n in names), [quoted(n)[1] for n in names]


def where(r, p):
    ebb, sql = p.expr(r, "bool", r.randint(1, 4))
    p.add("where " + ebb, f"SELECT * FROM _ WHERE {sql}")


def derive(r, p):
    items, seen, select = [], set(), "FROM _"
    for _ in range(r.randint(1, 4)):
        kind = r.choice(list(DUCK))
        name = r.choice([r.choice(list(p.cols)), p.fresh(r)])
        if p.cols.get(name) == "window" or name in seen:
            continue
        seen.add(name)
        ebb, sql = p.expr(r, kind)
        e, s = quoted(name)
        items.append(f"{e} = {ebb}")
        select = f"FROM (SELECT * {'REPLACE' if name in p.cols else ','} {'(' if name in p.cols else ''}{sql} AS {s}{')' if name in p.cols else ''} {select})"
        p.cols[name] = kind
        p.rough.discard(name)
    if items:
        p.add("derive " + ", ".join(items), "SELECT * " + select)


def select(r, p):
    names = r.sample(list(p.cols), r.randint(1, len(p.cols)))
    cols, ebb, sql = {}, [], []
    for n in names:
        e, s = quoted(n)
        cols[n] = p.cols[n]
        if p.cols[n] != "window" and r.random() < 0.3:
            kind = r.choice(list(DUCK))
            x, y = p.expr(r, kind)
            cols[n] = kind
            ebb.append(f"{e} = {x}"), sql.append(f"{y} AS {s}")
        else:
            ebb.append(e), sql.append(s)
    p.cols = cols
    p.add("select " + ", ".join(ebb), f"SELECT {', '.join(sql)}, _t, _p FROM _")


def drop(r, p):
    names = r.sample(list(p.cols), r.randint(1, max(1, len(p.cols) // 2)))
    if len(names) < len(p.cols):
        for n in names:
            del p.cols[n]
        p.add("drop " + ", ".join(quoted(n)[0] for n in names), f"SELECT * EXCLUDE ({', '.join(quoted(n)[1] for n in names)}) FROM _")


def rename(r, p):
    old, new = r.choice(list(p.cols)), p.fresh(r)
    if p.cols[old] == "window":
        return
    p.cols = {new if n == old else n: t for n, t in p.cols.items()}
    p.rough = {new if n == old else n for n in p.rough}
    p.add(f"rename {quoted(new)[0]} = {quoted(old)[0]}", f"SELECT * RENAME ({quoted(old)[1]} AS {quoted(new)[1]}) FROM _")


def cast(r, p):
    """Casts of text, of which some is bad: those rows are left out."""
    name = p.fresh(r)
    e, s = quoted(name)
    x, y = p.expr(r, "string", r.choice([0, 0, 1]))
    kind, good = r.choice([("int", "regexp_full_match({}, '[+-]?[0-9]+')"), ("float", "regexp_full_match({}, '[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)')"), ("bool", "({}) IN ('true', 'false')")])
    typed = f"CASE WHEN {good.format(y)} THEN TRY_CAST({y} AS {DUCK[kind]}) END"
    ebb = f"{kind}({x})"
    if r.random() < 0.5:
        (a, v), (b, w), (c, z) = p.expr(r, "float", 1), p.expr(r, "int", 1), p.expr(r, "int", 1)
        kind, ebb, y, typed = r.choice([
            ("int", f"int({a})", v, f"CASE WHEN isfinite({v}) AND {v} >= -9223372036854775808 AND {v} < 9223372036854775808 THEN trunc({v})::BIGINT END"),
            ("int", f"({b}) % ({c})", f"CASE WHEN {w} IS NOT NULL AND {z} IS NOT NULL THEN 1 END", f"CASE WHEN {z} <> 0 THEN wrap({w}::HUGEINT % {z}) END"),
            ("int", f"div({b}, {c})", f"CASE WHEN {w} IS NOT NULL AND {z} IS NOT NULL THEN 1 END", f"CASE WHEN {z} <> 0 THEN wrap({w}::HUGEINT // {z}) END"),
        ])
    p.cols[name] = kind
    p.add(f"derive {e} = {ebb} on_error drop", f"SELECT * FROM (SELECT *, {typed} AS {s}, {y} AS _text FROM _) WHERE {s} IS NOT NULL OR _text IS NULL".replace("SELECT * FROM (", "SELECT * EXCLUDE (_text) FROM (", 1))


def unnest(r, p):
    lists = [n for n, t in p.cols.items() if t[0] == "["]
    if not lists:
        return
    n, name = r.choice(lists), p.fresh(r)
    kind = p.cols[n][1:-1]
    p.cols[name] = kind
    s = quoted(n)[1]
    p.add(f"unnest {quoted(n)[0]} as {quoted(name)[0]}", f"SELECT * EXCLUDE (_i) REPLACE (_p * 8 + _i AS _p) FROM (SELECT *, unnest({s}) AS {quoted(name)[1]}, generate_subscripts({s}, 1) AS _i FROM _)")


def check(r, p):
    ebb, sql = p.expr(r, "bool", r.randint(1, 3))
    p.add(f"assert ({ebb}) ?? false on_error drop", f"SELECT * FROM _ WHERE {sql}")


def split(r, p):
    """Two branches: one of them goes on, or both do."""
    ebb, sql = p.expr(r, "bool", r.randint(1, 3))
    n = len(p.case.streams)
    p.case.streams.append(f"{p.ebb}\n    |> split {{\n        when {ebb} => yes{n}\n        else => no{n}\n    }}")
    p.ebb, keep = r.choice([(f"yes{n}", sql), (f"no{n}", f"NOT coalesce({sql}, false)"), (f"yes{n} |> union no{n}", "true")])
    if keep == "true":
        p.ordered = False
    else:
        other = p.ebb.replace("yes", "?").replace("no", "yes").replace("?", "no")
        p.case.streams.append(f"{other} |> into blackhole()")
    p.sql = p.case.cte(f"SELECT * FROM {p.sql} WHERE {keep}")


def side(r, p):
    """Another pipeline over the same source, for stages with two inputs."""
    q = Pipe(p.case)
    for _ in range(r.randint(0, 2)):
        r.choice([where, derive])(r, q)
    return q


def union(r, p):
    if "window" in p.cols.values():
        return
    q = side(r, p)
    items = [(quoted(n), q.expr(r, t)) for n, t in p.cols.items()]
    r.shuffle(items)
    q.add("select " + ", ".join(f"{n} = {x}" for (n, _), (x, _) in items), f"SELECT {', '.join(f'{y} AS {n}' for (_, n), (_, y) in items)}, _t, _p FROM _")
    timed = p.timed
    p.timed = p.timed and q.timed
    p.add(f"union {p.case.stream(q)}", f"SELECT * FROM _ UNION ALL BY NAME SELECT * FROM {q.sql}")
    p.ordered = False
    if timed != q.timed:
        p.timed = False


# type of the value, Ebb, SQL, types of {0} {1}; {o} is the order of the rows
AGGREGATES = [
    ("int", "count()", "count(*)", ""),
    ("int", "count({0})", "count({0})", "any"),
    ("int", "count_if({0})", "count(*) FILTER ({0})", "bool"),
    ("int", "sum({0})", "wrap(sum({0}))", "int"),
    ("int", "sum_if({0}, {1})", "wrap(sum({0}) FILTER ({1}))", "int bool"),
    ("int", "distinct({0})", "count(DISTINCT {0})", "any"),
    ("int", "distinct(({1}) ? ({0}) : nil)", "count(DISTINCT {0}) FILTER ({1})", "int bool"),
    ("rough", "sum({0})", "sum({0})", "float"),
    ("rough", "avg({0})", "avg({0}::DOUBLE)", "float"),
    ("rough", "avg({0})", "sum({0}) / count({0})::DOUBLE", "int"),
    ("rough", "sum({0}) / count()", "wrap(sum({0})) / count(*)", "int"),
    ("rough", "variance({0})", "var_samp({0}::DOUBLE)", "small"),
    ("rough", "stddev({0})", "stddev_samp({0}::DOUBLE)", "small"),
    ("rough", "median({0})", "quantile_cont({0}::DOUBLE, 0.5)", "number"),
    ("rough", "quantile({0}, 0.9)", "quantile_cont({0}::DOUBLE, 0.9)", "number"),
    ("same", "min({0})", "min({0})", "plain"),
    ("same", "max({0})", "max({0})", "plain"),
    ("same", "first({0})", "list({0} ORDER BY {o}) FILTER ({0} IS NOT NULL)[1]", "plain"),
    ("same", "last({0})", "list({0} ORDER BY {o}) FILTER ({0} IS NOT NULL)[-1]", "plain"),
    ("same", "arg_max({0}, {1})", "list({0} ORDER BY {1} DESC, {o}) FILTER ({0} IS NOT NULL AND {1} IS NOT NULL)[1]", "plain plain"),
    ("same", "arg_min({0}, {1})", "list({0} ORDER BY {1}, {o}) FILTER ({0} IS NOT NULL AND {1} IS NOT NULL)[1]", "plain plain"),
    ("[int]", "collect({0})", "list({0} ORDER BY {o}) FILTER ({0} IS NOT NULL)", "int"),
    ("[int]", "collect({0}, limit: 2)", "(list({0} ORDER BY {o}) FILTER ({0} IS NOT NULL))[1:2]", "int"),
    ("[string]", "map(top_k({0}, 2), #.value)", "list_transform(list_sort(list_transform(map_entries(histogram({0})), lambda _m: struct_pack(n := -_m.value::BIGINT, v := _m.key)))[1:2], lambda _m: _m.v)", "string"),
]


def aggregated(r, p, name):
    kind, ebb, sql, kinds = r.choice(AGGREGATES)
    while "{o}" in sql and not p.ordered:
        kind, ebb, sql, kinds = r.choice(AGGREGATES)
    args = []
    for k in kinds.split():
        k = {"any": r.choice(["int", "string", "float", "time", "bool"]), "plain": r.choice(["int", "string", "float", "time"]), "number": r.choice(["int", "float"]), "small": "float"}.get(k, k)
        args.append(p.expr(r, k, 0 if kind == "rough" else r.choice([0, 0, 1]), inside=True))
        if kind == "same":
            kind = k
    p.cols[name] = "float" if kind == "rough" else kind
    if kind == "rough":
        p.rough.add(name)
    return ebb.format(*(x for x, _ in args)), sql.format(*(y for _, y in args), o="_t, _p")


def aggregate(r, p):
    keys = []
    used = set()
    for _ in range(r.randint(0, 2)):
        names = [c for c, t in p.cols.items() if t in KEYS + LISTS and c not in p.rough and c not in used]
        if names and r.random() < 0.7:
            n = r.choice(names)
            keys.append((n, p.cols[n], quoted(n)[0], quoted(n)[1]))
        else:
            n = r.choice([n for n in NAMES if n not in used])
            t = r.choice(["int", "string", "bool", "time"])
            x, y = p.expr(r, t, 1)
            keys.append((n, t, f"{quoted(n)[0]} = {x}", y))
        used.add(n)
    before = dict(p.cols)
    window = windows(r, p.changes) if p.timed and "window" not in used and r.random() < 0.7 else None
    names = r.sample([n for n in NAMES if n not in used], r.randint(1, 4))
    aggs, cols = [], {n: t for n, t, _, _ in keys}
    if window:
        cols["window"] = "window"
    new = set()
    for n in names:
        p.cols, p.rough = dict(before), set()
        aggs.append((quoted(n), aggregated(r, p, n)))
        cols[n] = p.cols[n]
        new |= p.rough
    p.cols, p.rough = cols, new
    ebb = "aggregate " + ", ".join(f"{n} = {x}" for (n, _), (x, _) in aggs)
    if keys:
        ebb += " by " + ", ".join(x for _, _, x, _ in keys)
    by = [f"_k{i}" for i in range(len(keys))]
    p.sql = p.case.cte(f"SELECT *{''.join(f', {y} AS _k{i}' for i, (_, _, _, y) in enumerate(keys))} FROM {p.sql}")
    out = "".join(f"_k{i} AS {quoted(n)[1]}, " for i, (n, _, _, _) in enumerate(keys))
    values = ", ".join(f"{y} AS {n}" for (_, n), (_, y) in aggs)
    if window:
        text, rows = window
        p.fine = text.startswith("session") and "window" in before.values()
        p.sql = p.case.cte(rows(p.sql, ", ".join(by)))
        clauses = [f"window {text}"] + r.choice([[], [], ["emit final"], ["late drop"], ["emit changes"], ["emit changes every 1h"], ["late allow 5s"]])
        p.changes = " ".join(clauses[1:]).startswith(("emit changes", "late allow"))
        groups = ", ".join(by + ["_s", "_e"])
        bounds = "struct_pack(start := make_timestamp_ns(_s), \"end\" := make_timestamp_ns(_e)) AS \"window\", "
        end = "_e" if text.startswith("session") else "_e - 1"
        p.add(ebb + " " + " ".join(clauses), f"SELECT {out}{bounds}{values}, {end} AS _t, NULL::BIGINT AS _p FROM _ GROUP BY {groups}")
    else:
        emit = r.choice(["", " emit final", " emit changes"])
        p.changes = emit == " emit changes"
        p.timed = False
        p.add(ebb + emit, f"SELECT {out}{values}, NULL::BIGINT AS _t, NULL::BIGINT AS _p FROM _" + (f" GROUP BY {', '.join(by)}" if by else ""))
    p.ordered = False


def windows(r, plain):
    """A window, no session if it is to be plain: its text, and the query that gives each row its windows _s to _e, for rows of a query with keys."""
    size = r.choice(["1s", "5s", "7s", "1m", "250ms", "1h"])
    n = span(size)
    kind = r.choice(["tumbling", "hopping", "cumulate"] + ["session"] * (not plain))
    offset = r.choice([0, 0, 700]) * 10**6
    shift = f", offset: {offset // 10**6}ms" if offset else ""
    floor = lambda t, n: f"(({t}) - ((({t}) % {n}) + {n}) % {n})"
    if kind == "tumbling":
        start = f"{floor(f'_t - {offset}', n)} + {offset}"
        return f"tumbling({size}{shift})", lambda q, by: f"SELECT *, {start} AS _s, {start} + {n} AS _e FROM {q}"
    if kind == "hopping":
        step = n * r.choice([1, 2, 3, 5]) // r.choice([2, 3, 5, 10])
        step = max(step // 10**6, 50) * 10**6
        if n // step > 40:
            step = n // 5
        return f"hopping({size}, every: {step // 10**6}ms{shift})", lambda q, by: (
            f"SELECT * EXCLUDE (_j), _s + {n} AS _e FROM (SELECT *, {floor(f'_t - {offset}', step)} + {offset} - _j * {step} AS _s FROM {q}, range({n // step + 1}) AS _r(_j)) WHERE _t < _s + {n}")
    if kind == "cumulate":
        step = n // 10**6 // r.choice([1, 2, 3, 4, 5]) * 10**6
        return f"cumulate({size}, step: {step // 10**6}ms)", lambda q, by: (
            f"SELECT * EXCLUDE (_j) FROM (SELECT *, {floor('_t', n)} AS _s, {floor('_t', n)} + least(_j * {step}, {n}) AS _e FROM {q}, range(1, {-(-n // step) + 1}) AS _r(_j)) WHERE _t < _e")
    over = lambda by: f"({'PARTITION BY ' + by if by else ''} ORDER BY _t, _p)"
    part = lambda by: f"({'PARTITION BY ' + by + ', _g' if by else 'PARTITION BY _g'})"
    return f"session({size})", lambda q, by: (
        f"SELECT * EXCLUDE (_g), min(_t) OVER {part(by)} AS _s, max(_t) OVER {part(by)} + {n} AS _e FROM (SELECT * EXCLUDE (_new), sum(_new) OVER {over(by)} AS _g FROM (SELECT *, coalesce(_t - lag(_t) OVER {over(by)} > {n}, true)::INT AS _new FROM {q}))")


def sort(r, p):
    """Sorts, by all columns where rows have no order of their own; then perhaps a limit."""
    names = [n for n, t in p.cols.items() if t in KEYS and t != "window" and n not in p.rough]
    if not names or p.changes:
        return
    some = r.sample(names, r.randint(1, min(3, len(names))))
    if not p.ordered:
        if len(names) < len(p.cols):
            return
        some += [n for n in names if n not in some]
    items = [(quoted(n), r.choice(["", " asc", " desc"])) for n in some]
    order = ", ".join(f"{n}{' DESC' if way == ' desc' else ''} NULLS LAST" for (_, n), way in items)
    p.add("sort by " + ", ".join(n + way for (n, _), way in items), "SELECT * FROM _")
    p.sorted = order + (", _p" if p.ordered else "")
    if r.random() < 0.5:
        n = r.choice([0, 1, 3, 10])
        p.ebb += f"\n    |> limit {n}"
        p.sql = p.case.cte(f"SELECT * FROM {p.sql} ORDER BY {p.sorted} LIMIT {n}")


STAGES = [where, where, derive, derive, select, drop, rename, cast, cast, check, split, unnest, union, aggregate, aggregate, aggregate]
PLAIN = [where, derive, select, drop, rename, aggregate]  # of updating streams


def build(data, seed, stages):
    """The case of a seed with some of its stages: Pipe, script, statements of SQL."""
    case = Case(data)
    p = Pipe(case)
    for i in stages:
        r = random.Random(f"{seed} {i}")
        if i == "sort":
            sort(r, p)
        else:
            r.choice(PLAIN if p.changes else STAGES)(r, p)
    script = "\n\n".join([data.source()] + case.streams + [p.ebb]) + "\n"
    whole = lambda n: f'struct_pack(start := epoch_ns({n}.start), "end" := epoch_ns({n}."end"))'
    columns = ", ".join(whole(quoted(n)[1]) if t == "window" else quoted(n)[1] for n, t in p.cols.items())
    ctes = "WITH " + ",\n".join(f"q{i + 1} AS ({c})" for i, c in enumerate(case.ctes)) + "\n" if case.ctes else ""
    return p, script, [data.tables(), f"{ctes}SELECT {columns} FROM {p.sql}" + (f" ORDER BY {p.sorted}" if p.sorted else "")]


def value(v, kind, json_output):
    """A value as it is compared."""
    if v is None:
        return None
    if kind == "window":
        return {k: value(x, "time", json_output) for k, x in v.items()}
    if kind[0] == "[":
        return [value(x, kind[1:-1], json_output) for x in v]
    if kind == "float":
        return None if json_output and not math.isfinite(float(v)) else float(v)
    if isinstance(v, datetime.datetime):
        return (v - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1) * 1000
    if kind == "time" and isinstance(v, str):
        day, clock = v.rstrip("Z").split("T")
        clock, _, fraction = clock.partition(".")
        return int((datetime.datetime.fromisoformat(day + "T" + clock) - datetime.datetime(1970, 1, 1)).total_seconds()) * 10**9 + int(fraction.ljust(9, "0"))
    return v


def parse_csv(out, cols):
    rows, row = [], []
    for m in re.finditer(r'(?:"((?:[^"]|"")*)"|([^,"\n]*))(,|\n)', out):
        row.append(m[1].replace('""', '"') if m[1] is not None else m[2] or None)
        if m[3] == "\n":
            rows.append(row)
            row = []
    take = {"int": int, "float": float, "bool": lambda x: x == "true", "string": str, "time": str}
    return [{n: None if v is None else take.get(t, json.loads)(v) for (n, t), v in zip(cols.items(), row)} for row in rows[1:]]


def ebb(p, parallelism, output):
    run = subprocess.run(["bin/ebb", "run", DIR + "/script.ebb", "--parallelism", str(parallelism), "--output", output], capture_output=True, timeout=60)
    out = run.stdout.decode()
    if run.returncode:
        return "ebb: exit status %d: %s" % (run.returncode, run.stderr.decode().strip())
    cols = {"_change": "string", **p.cols} if p.changes else p.cols
    rows = parse_csv(out, cols) if output == "csv" else [json.loads(line) for line in out.splitlines()]
    if rows and list(rows[0]) != list(cols):
        return f"ebb: columns {list(rows[0])}, not {list(cols)}"
    got = [[value(x[n], t, output == "jsonl") for n, t in cols.items()] for x in rows]
    if not p.changes:
        return got
    left = []
    for change, *row in got:
        if change[0] == "+":
            left.append(row)
        else:
            left.remove(next(x for x in left if same(x, row)))
    return left


def duck(db, p, sql, json_output):
    for s in sql[:-1]:
        db.execute(s)
    return [[value(v, t, json_output) for v, t in zip(row, p.cols.values())] for row in db.execute(sql[-1]).fetchall()]


def same(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or math.isnan(a) and math.isnan(b)
    return a == b and type(a) == type(b)


def order(p):
    """Sorts rows so that near floats stand at the same place: by the other values first."""
    floats = [t == "float" for t in p.cols.values()]
    return lambda row: ([repr(v) for v, f in zip(row, floats) if not f], [(2, 0.0) if v is None else (1, 0.0) if math.isnan(v) else (0, v) for v, f in zip(row, floats) if f])


def differs(db, data, seed, stages):
    """What differs at these stages, or nothing."""
    data.write()
    try:
        p, script, sql = build(data, seed, stages)
    except IndexError:
        return None
    with open(DIR + "/script.ebb", "w") as f:
        f.write(script)
    with open(DIR + "/query.sql", "w") as f:
        f.write("".join(s + ";\n" for s in MACROS + sql))
    output = random.Random(seed).choice(["jsonl", "csv"])
    try:
        want = duck(db, p, sql, output == "jsonl")
    except duckdb.Error as e:
        want = "DuckDB: " + str(e)
    for n in (1, 2, 3):
        got = ebb(p, n, output)
        if isinstance(got, str) or isinstance(want, str):
            return f"{want if isinstance(want, str) else len(want)}\n{got if isinstance(got, str) else len(got)}", script, sql
        a, b = (want, got) if p.sorted else (sorted(want, key=order(p)), sorted(got, key=order(p)))
        if not (len(a) == len(b) and all(map(same, a, b))):
            only = lambda xs, ys: "".join(f"  {x}\n" for x in xs if not any(same(x, y) for y in ys))
            where = f"parallelism {n}: {len(a)} rows in DuckDB, {len(b)} in Ebb; columns {list(p.cols)}\n"
            return where + f"only in DuckDB:\n{only(a, b)}only in Ebb:\n{only(b, a)}", script, sql
    return None


def shrink(db, data, seed, stages, found):
    """A smaller case that differs, too: without stages, then with fewer rows."""
    kind = lambda x: re.sub(r"[0-9]+", "", x[0].split("\n")[-1])[:40] if "only in" not in x[0] else "rows"
    at = 0
    while at < len(stages):
        less = stages[:at] + stages[at + 1 :]
        now = differs(db, data, seed, less)
        if now and kind(now) == kind(found):
            stages, found = less, now
        else:
            at += 1
    size = max(map(len, data.files), default=0)
    while size:
        for i, rows in enumerate(data.files):
            at = 0
            while at < len(rows):
                data.files[i] = rows[:at] + rows[at + size :]
                now = differs(db, data, seed, stages)
                if now and kind(now) == kind(found):
                    rows, found = data.files[i], now
                else:
                    at += size
                data.files[i] = rows
        size //= 2
    return differs(db, data, seed, stages) or found


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--seed", type=int, default=1, help="the first seed")
    args.add_argument("--cases", type=int, default=500, help="how many pipelines, each of its own seed")
    args.add_argument("--keep-going", action="store_true", help="go on after a difference")
    args = args.parse_args()
    db = duckdb.connect()
    for s in ["SET threads = 1", "SET TimeZone = 'UTC'", "SET preserve_insertion_order = true", "SET order_by_non_integer_literal = true"] + MACROS:
        db.execute(s)
    failed = 0
    for seed in range(args.seed, args.seed + args.cases):
        r = random.Random(seed)
        data = Data(r)
        stages = list(range(r.randint(1, 6))) + ["sort"] * (r.random() < 0.3)
        found = differs(db, data, seed, stages)
        if found:
            failed += 1
            what, script, sql = shrink(db, data, seed, stages, found)
            files = "".join(f"-- e{i}.{data.kind}\n{data.text(rows)}" for i, rows in enumerate(data.files) if rows)
            print(f"=== seed {seed}\n{what}\n{script}\n{sql[-1]}\n{files}", flush=True)
            if not args.keep_going:
                sys.exit(1)
    print(f"{args.cases} random pipelines from seed {args.seed}, {failed} differ")
    sys.exit(failed > 0)


main()
