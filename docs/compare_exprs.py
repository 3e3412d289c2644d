"""Random expressions of Ebb with the SQL that means the same in DuckDB, by type; for compare_random.py.

Types: int float bool string time [int] [string] window. SQL differs where Ebb's rules do: null is equal to null, a
comparison with NaN is false, ints wrap. MACROS say these once.
"""

import json
import re

MACROS = [
    "CREATE MACRO wrap(x) AS (CASE WHEN x BETWEEN -9223372036854775808 AND 9223372036854775807 THEN x ELSE "
    "((x + 9223372036854775808::HUGEINT) % 18446744073709551616::HUGEINT + 18446744073709551616::HUGEINT) % 18446744073709551616::HUGEINT - 9223372036854775808::HUGEINT END)::BIGINT",
    "CREATE MACRO same(a, b) AS a IS NOT DISTINCT FROM b",
    "CREATE MACRO fsame(a, b) AS a IS NOT DISTINCT FROM b AND NOT coalesce(isnan(a), false)",
    # an ordering of floats: null with null, false with NaN
    "CREATE MACRO cmp(a, b, holds) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN isnan(a) OR isnan(b) THEN false ELSE holds END",
    "CREATE MACRO yes(x) AS coalesce(x, false)",
    "CREATE MACRO part(s, sep, n) AS list_extract(string_split(s, sep), CASE WHEN n < 0 THEN n ELSE n + 1 END)",
    "CREATE MACRO find(s, x) AS CASE WHEN strpos(s, x) = 0 THEN -1 ELSE strlen(left(s, strpos(s, x) - 1)) END",
    "CREATE MACRO extracted(s, re, g) AS CASE WHEN regexp_matches(s, re) THEN regexp_extract(s, re, g) END",
    "CREATE MACRO ns(t) AS epoch_us(t) * 1000",
    "CREATE MACRO clock(t, zone) AS timezone(zone, timezone('UTC', t))",
    "CREATE MACRO unclock(t, zone) AS timezone('UTC', timezone(zone, t))",
    "CREATE MACRO ms(t) AS ((epoch_us(t) % 1000000 + 1000000) % 1000000) // 1000",
    "CREATE MACRO either(a, b, f) AS CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN f END",
    "CREATE MACRO known(xs, r) AS CASE WHEN len(list_filter(xs, lambda _x: _x IS NULL)) = 0 THEN r END",
    "CREATE MACRO piece(s, a, n) AS substring(s, greatest(CASE WHEN a < 0 THEN length(s) + a ELSE a END, 0) + 1, n + CASE WHEN a < 0 THEN least(length(s) + a, 0) ELSE 0 END)",
]

TEXTS = ["", "a", "b", "Ab", "añb", "日本", "😀x", 'q"q', "it's", " a ", "a,b", "a/b/c", "//", "x\ny", "e\u0301x", "42", "-7", "1.5", "nil", "NULL", "true", "%_", "\\d+", "Жж"]
TIMES = ["2026-03-29T00:59:59.999999Z", "2026-03-29T01:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-12-31T23:59:59.5Z", "2027-01-01T00:00:00Z", "1969-12-31T23:59:59.75Z", "1970-01-01T00:00:00Z", "2024-02-29T12:00:00Z", "2011-12-30T09:59:59Z", "2011-12-30T10:00:00Z", "2018-11-04T02:59:59Z", "2018-11-04T03:00:00Z", "2026-04-04T14:45:00Z", "1955-06-15T08:09:10.000001Z"]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia", "America/Sao_Paulo"]
SPANS = ["1ns", "250us", "1ms", "750ms", "1s", "7s", "1m", "15m", "1h", "1h30m", "1d", "7d"]
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}


def text(s):
    return json.dumps(s, ensure_ascii=False), "'" + s.replace("'", "''") + "'"


def span(d):
    """Nanoseconds of a duration such as 1h30m."""
    total, number = 0, ""
    for i, c in enumerate(d):
        if c.isdigit():
            number += c
        elif number:
            unit = d[i : i + 2] if d[i : i + 2] in UNITS else c
            total, number = total + int(number) * UNITS[unit], ""
    return total


def literal(r, kind):
    if kind == "int":
        n = r.choice([0, 1, 2, 3, 7, -1, -3, 10, 100, 2**31, 2**53 + 1, 2**62, 2**63 - 1])
        return str(n), f"({n})::BIGINT"
    if kind == "float":
        x = r.choice([0.0, 0.25, 0.5, 1.0, -1.5, 2.75, 10.0, 1e6, 0.1, -0.1])
        return str(x), f"({x})::DOUBLE"
    if kind == "bool":
        b = r.choice(["true", "false"])
        return b, b
    if kind == "string":
        return text(r.choice(TEXTS))
    if kind == "time":
        t = r.choice(TIMES)
        return "@" + t, f"TIMESTAMP '{t[:-1]}'"
    if kind == "[int]":
        xs = [literal(r, "int") for _ in range(r.randint(1, 3))]
        return "[" + ", ".join(x for x, _ in xs) + "]", "[" + ", ".join(x for _, x in xs) + "]"
    xs = [text(r.choice(TEXTS)) for _ in range(r.randint(1, 3))]
    return "[" + ", ".join(x for x, _ in xs) + "]", "[" + ", ".join(x for _, x in xs) + "]"


# What is a constant in a call: drawn, not made of columns.
CONSTANTS = {
    "small": lambda r: (str(n := r.choice([-3, -2, -1, 1, 2, 3, 7, 10])), f"({n})::BIGINT"),
    "index": lambda r: (str(n := r.randint(-3, 4)), str(n)),
    "count": lambda r: (str(n := r.randint(0, 4)), str(n)),
    "mark": lambda r: text(r.choice([",", "/", "a", "ñ", "//", "😀", "b"])),
    "regex": lambda r: text(r.choice(["[0-9]+", "^a", "b$", "(a)(.)", "[ñé]", "(?i)AB", "^$", "\\\\d", "x.y", "(?s)x.y"])),
    "zone": lambda r: text(r.choice(ZONES)),
    "unit": lambda r: text(r.choice(["year", "quarter", "month", "week", "day"])),
    "fine": lambda r: text(r.choice(["hour", "minute", "second"])),
    "span": lambda r: (d := r.choice(SPANS), str(span(d))),
    "wide": lambda r: (d := r.choice([s for s in SPANS if span(s) >= 1000]), f"INTERVAL '{span(d) // 1000} microseconds'"),
    "layout": lambda r: r.choice([('"2006-01-02"', "'%Y-%m-%d'"), ('"15:04:05.000"', "'%H:%M:%S.%g'"), ('"Jan 2, 2006"', "'%b %-d, %Y'"), ('"Monday 02/01/06"', "'%A %d/%m/%y'"), ('"3:04PM"', "'%-I:%M%p'")]),
}

# type of the value, Ebb, SQL, types of {0} {1} {2}
CALLS = [
    ("int", "{0} + {1}", "wrap({0}::HUGEINT + {1})", "int int"),
    ("int", "{0} - {1}", "wrap({0}::HUGEINT - {1})", "int int"),
    ("int", "{0} * {1}", "wrap({0}::HUGEINT * {1})", "int int"),
    ("int", "-{0}", "wrap(-({0}::HUGEINT))", "int"),
    ("int", "{0} % {1}", "{0} % {1}", "int small"),
    ("int", "div({0}, {1})", "wrap({0}::HUGEINT // {1})", "int small"),
    ("int", "abs({0})", "wrap(abs({0}::HUGEINT))", "int"),
    ("int", "sign({0})", "sign({0})::BIGINT", "int"),
    ("int", "sign({0})", "CASE WHEN isnan({0}) THEN 0 ELSE sign({0}) END::BIGINT", "float"),
    ("int", "max({0}, {1})", "either({0}, {1}, greatest({0}, {1}))", "int int"),
    ("int", "min({0}, {1})", "either({0}, {1}, least({0}, {1}))", "int int"),
    ("int", "bitand({0}, {1})", "{0} & {1}", "int int"),
    ("int", "bitor({0}, {1})", "{0} | {1}", "int int"),
    ("int", "bitxor({0}, {1})", "xor({0}, {1})", "int int"),
    ("int", "bitnot({0})", "~{0}", "int"),
    ("int", "bitnand({0}, {1})", "{0} & ~{1}", "int int"),
    ("int", "bitshr({0}, {1})", "{0} >> {1}", "int count"),
    ("int", "bitshl({0}, {1})", "wrap({0}::HUGEINT * (1 << {1}))", "int count"),
    ("int", "len({0})", "length({0})", "string"),
    ("int", "len({0})", "len({0})", "[int]"),
    ("int", "len({0})", "len({0})", "[string]"),
    ("int", "indexOf({0}, {1})", "find({0}, {1})", "string mark"),
    ("int", "get({0}, {1})", "list_extract({0}, CASE WHEN {1} < 0 THEN {1} ELSE {1} + 1 END)", "[int] index"),
    ("int", "sum({0})", "known({0}, wrap(coalesce(list_sum({0}), 0)))", "[int]"),
    ("int", "max({0})", "known({0}, list_max({0}))", "[int]"),
    ("int", "min({0})", "known({0}, list_min({0}))", "[int]"),
    ("int", "first({0})", "list_extract({0}, 1)", "[int]"),
    ("int", "last({0})", "list_extract({0}, -1)", "[int]"),
    ("int", "count({0}, # > {1})", "len(list_filter({0}, lambda _x: _x > {1}))", "[int] small"),
    ("int", "{0} ?? {1}", "coalesce({0}, {1})", "int int"),
    ("int", "{0} ? {1} : {2}", "CASE WHEN {0} THEN {1} ELSE {2} END", "bool int int"),
    ("int", "{0} ? {1} : nil", "CASE WHEN {0} THEN {1} END", "bool int"),
    ("int", "{{a: {0}, b: {1}}}.a", "struct_pack(a := {0}, b := {1}).a", "int string"),
    ("int", "int({0} - {1})", "ns({0}) - ns({1})", "time time"),
    ("int", "int({0})", "ns({0})", "time"),
    ("int", "year({0}, {1})", "year(clock({0}, {1}))", "time zone"),
    ("int", "quarter({0}, {1})", "quarter(clock({0}, {1}))", "time zone"),
    ("int", "month({0}, {1})", "month(clock({0}, {1}))", "time zone"),
    ("int", "week({0}, {1})", "week(clock({0}, {1}))", "time zone"),
    ("int", "day({0}, {1})", "day(clock({0}, {1}))", "time zone"),
    ("int", "weekday({0}, {1})", "isodow(clock({0}, {1}))", "time zone"),
    ("int", "yearday({0}, {1})", "dayofyear(clock({0}, {1}))", "time zone"),
    ("int", "hour({0}, {1})", "hour(clock({0}, {1}))", "time zone"),
    ("int", "hour({0})", "hour({0})", "time"),
    ("int", "minute({0}, {1})", "minute(clock({0}, {1}))", "time zone"),
    ("int", "second({0})", "second({0})", "time"),
    ("int", "millisecond({0})", "ms({0})", "time"),
    ("float", "{0} / {1}", "{0}::DOUBLE / {1}::DOUBLE", "int int"),
    ("float", "{0} / {1}", "{0} / {1}", "float float"),
    ("float", "{0} + {1}", "{0} + {1}", "float float"),
    ("float", "{0} - {1}", "{0} - {1}", "float float"),
    ("float", "{0} * {1}", "{0} * {1}", "float float"),
    ("float", "{0} + {1}", "{0} + {1}::DOUBLE", "float int"),
    ("float", "{0} * {1}", "{0}::DOUBLE * {1}", "int float"),
    ("float", "-{0}", "-{0}", "float"),
    ("float", "{0} ** 2", "{0} * {0}", "float"),
    ("float", "abs({0})", "abs({0})", "float"),
    ("float", "floor({0})", "floor({0})", "float"),
    ("float", "ceil({0})", "ceil({0})", "float"),
    ("float", "round({0})", "round({0})", "float"),
    ("float", "sqrt({0})", "sqrt({0})", "float"),
    ("float", "float({0})", "{0}::DOUBLE", "int"),
    ("float", "{0} ?? {1}", "coalesce({0}, {1})", "float float"),
    ("float", "{0} ?? {1}", "coalesce({0}, {1}::DOUBLE)", "float int"),
    ("float", "{0} ? {1} : {2}", "CASE WHEN {0} THEN {1} ELSE {2}::DOUBLE END", "bool float int"),
    ("float", "({0} - {1}) / {2}", "(ns({0}) - ns({1}))::DOUBLE / {2}::DOUBLE", "time time span"),
    ("bool", "{0} == {1}", "same({0}, {1})", "int int"),
    ("bool", "{0} != {1}", "NOT same({0}, {1})", "int int"),
    ("bool", "{0} < {1}", "{0} < {1}", "int int"),
    ("bool", "{0} >= {1}", "{0} >= {1}", "int int"),
    ("bool", "{0} == {1}", "fsame({0}, {1})", "float float"),
    ("bool", "{0} != {1}", "NOT fsame({0}, {1})", "float float"),
    ("bool", "{0} == {1}", "fsame({0}, {1}::DOUBLE)", "float int"),
    ("bool", "{0} < {1}", "cmp({0}, {1}, {0} < {1})", "float float"),
    ("bool", "{0} >= {1}", "cmp({0}, {1}, {0} >= {1})", "float float"),
    ("bool", "{0} <= {1}", "cmp({0}, {1}::DOUBLE, {0} <= {1}::DOUBLE)", "float int"),
    ("bool", "{0} > {1}", "cmp({1}, {0}::DOUBLE, {0}::DOUBLE > {1})", "int float"),
    ("bool", "{0} == {1}", "same({0}, {1})", "string string"),
    ("bool", "{0} != {1}", "NOT same({0}, {1})", "string string"),
    ("bool", "{0} < {1}", "{0} < {1}", "string string"),
    ("bool", "{0} >= {1}", "{0} >= {1}", "string string"),
    ("bool", "{0} == {1}", "same({0}, {1})", "time time"),
    ("bool", "{0} < {1}", "{0} < {1}", "time time"),
    ("bool", "{0} == {1}", "same({0}, {1})", "bool bool"),
    ("bool", "{0} == {1}", "same({0}, {1})", "[int] [int]"),
    ("bool", "{0} == nil", "{0} IS NULL", "int"),
    ("bool", "{0} != nil", "{0} IS NOT NULL", "float"),
    ("bool", "{0} == nil", "{0} IS NULL", "string"),
    ("bool", "{0} - {1} > {2}", "ns({0}) - ns({1}) > {2}", "time time span"),
    ("bool", "{0} and {1}", "{0} AND {1}", "bool bool"),
    ("bool", "{0} or {1}", "{0} OR {1}", "bool bool"),
    ("bool", "not {0}", "NOT {0}", "bool"),
    ("bool", "{0} contains {1}", "yes(contains({0}, {1}))", "string string"),
    ("bool", "{0} startsWith {1}", "yes(starts_with({0}, {1}))", "string string"),
    ("bool", "{0} endsWith {1}", "yes(ends_with({0}, {1}))", "string mark"),
    ("bool", "hasPrefix({0}, {1})", "starts_with({0}, {1})", "string string"),
    ("bool", "{0} matches {1}", "yes(regexp_matches({0}, {1}))", "string regex"),
    ("bool", "{0} in {1}", "yes({0} IN (SELECT unnest({1}))) OR {0} IS NULL AND yes(len(list_filter({1}, lambda _x: _x IS NULL)) > 0)", "int [int]"),
    ("bool", "{0} in [{1}, {2}]", "same({0}, {1}) OR same({0}, {2})", "string string string"),
    ("bool", "{0} in [{1}, 3, nil]", "{0} IS NULL OR same({0}, {1}) OR {0} = 3", "int int"),
    ("bool", "{0} in [{1}, {2}]", "fsame({0}, {1}) OR fsame({0}, {2})", "float float float"),
    ("bool", "{0} in {1}..{2}", "yes({0} BETWEEN {1} AND {2})", "int small count"),
    ("bool", "any({0}, # == {1})", "len(list_filter({0}, lambda _x: _x = {1})) > 0", "[int] small"),
    ("bool", "all({0}, # > {1})", "len(list_filter({0}, lambda _x: _x <= {1} OR _x IS NULL)) = 0", "[int] small"),
    ("bool", "{0} ?? {1}", "coalesce({0}, {1})", "bool bool"),
    ("bool", "{0} ? {1} : {2}", "CASE WHEN {0} THEN {1} ELSE {2} END", "bool bool bool"),
    ("string", "{0} + {1}", "{0} || {1}", "string string"),
    ("string", "upper({0})", "upper({0})", "string"),
    ("string", "lower({0})", "lower({0})", "string"),
    ("string", "substr({0}, {1}, {2})", "piece({0}, {1}, {2})", "string index count"),
    ("string", "substr({0}, {1})", "piece({0}, {1}, 1000000)", "string index"),
    ("string", "trim({0}, {1})", "trim({0}, {1})", "string mark"),
    ("string", "replace({0}, {1}, {2})", "replace({0}, {1}, {2})", "string mark string"),
    ("string", "part({0}, {1}, {2})", "part({0}, {1}, {2})", "string mark index"),
    ("string", "repeat({0}, {1})", "repeat({0}, {1})", "string count"),
    ("string", "extract({0}, {1})", "extracted({0}, {1}, 0)", "string regex"),
    ("string", 'extract({0}, "(a)(.)", 2)', "extracted({0}, '(a)(.)', 2)", "string"),
    ("string", "trimPrefix({0}, {1})", "CASE WHEN starts_with({0}, {1}) THEN substring({0}, length({1}) + 1) ELSE {0} END", "string mark"),
    ("string", "trimSuffix({0}, {1})", "CASE WHEN ends_with({0}, {1}) THEN left({0}, length({0}) - length({1})) ELSE {0} END", "string mark"),
    ("string", "join({0}, {1})", "known({0}, array_to_string({0}, {1}))", "[string] mark"),
    ("string", "join(split({0}, {1}), {2})", "replace({0}, {1}, {2})", "string mark mark"),
    ("string", "toBase64({0})", "to_base64(encode({0}))", "string"),
    ("string", "get({0}, {1})", "list_extract({0}, CASE WHEN {1} < 0 THEN {1} ELSE {1} + 1 END)", "[string] index"),
    ("string", "string({0})", "coalesce({0}::VARCHAR, '<nil>')", "int"),
    ("string", "string({0})", "coalesce({0}::VARCHAR, '<nil>')", "bool"),
    ("string", "{0} ?? {1}", "coalesce({0}, {1})", "string string"),
    ("string", "{0} ? {1} : {2}", "CASE WHEN {0} THEN {1} ELSE {2} END", "bool string string"),
    ("string", "format({0}, {1})", "strftime({0}, {1})", "time layout"),
    ("string", "format({0}, {1}, {2})", "strftime(clock({0}, {2}), {1})", "time layout zone"),
    ("time", "{0} + {1}", "{0} + {1}", "time wide"),
    ("time", "{0} - {1}", "{0} - {1}", "time wide"),
    ("time", "truncate({0}, {1})", "time_bucket({1}, {0}, TIMESTAMP '1970-01-01')", "time wide"),
    ("time", "truncate({0}, {1}, {2})", "unclock(date_trunc({1}, clock({0}, {2})), {2})", "time unit zone"),
    ("time", "truncate({0}, {1}, {2})", "{0} - (clock({0}, {2}) - date_trunc({1}, clock({0}, {2})))", "time fine zone"),
    ("time", "{0} ?? {1}", "coalesce({0}, {1})", "time time"),
    ("time", "{0} ? {1} : {2}", "CASE WHEN {0} THEN {1} ELSE {2} END", "bool time time"),
    ("time", "max({0}, {1})", "either({0}, {1}, greatest({0}, {1}))", "time time"),
    ("[int]", "map({0}, # + {1})", "list_transform({0}, lambda _x: wrap(_x::HUGEINT + {1}))", "[int] small"),
    ("[int]", "filter({0}, # > {1})", "list_filter({0}, lambda _x: _x > {1})", "[int] small"),
    ("[int]", "sort({0})", "list_sort({0}, 'ASC', 'NULLS LAST')", "[int]"),
    ("[int]", 'sort({0}, "desc")', "list_sort({0}, 'DESC', 'NULLS LAST')", "[int]"),
    ("[int]", "reverse({0})", "list_reverse({0})", "[int]"),
    ("[int]", "concat({0}, {1})", "either({0}, {1}, {0} || {1})", "[int] [int]"),
    ("[int]", "take({0}, {1})", "list_slice({0}, 1, {1})", "[int] count"),
    ("[int]", "{0} ?? {1}", "coalesce({0}, {1})", "[int] [int]"),
    ("[int]", "[{0}, {1}]", "[{0}, {1}]", "int int"),
    ("[string]", "split({0}, {1})", "string_split({0}, {1})", "string mark"),
    ("[string]", 'split({0}, "")', "CASE WHEN {0} = '' THEN [] ELSE string_split({0}, '') END", "string"),
    ("[string]", "[{0}, {1}]", "[{0}, {1}]", "string string"),
]


def expr(r, cols, kind, depth, inside=False):
    """Ebb and SQL of a random expression; cols are the columns' types by the way each is written in both. Inside of an
    aggregate the functions of lists that are called like one have `::`."""
    if kind in CONSTANTS:
        return CONSTANTS[kind](r)
    calls = [c for c in CALLS if c[0] == kind]
    if depth <= 0 or r.random() < 0.2:
        names = [c for c, t in cols.items() if t == kind]
        return r.choice(names) if names and r.random() < 0.8 else literal(r, kind)
    _, ebb, sql, kinds = r.choice(calls)
    args = [expr(r, cols, k, depth - 1, inside) for k in kinds.split()]
    if inside:
        ebb = re.sub(r"^(any|count|first|last|max|min|sum)\(", r"::\1(", ebb)
    plain = lambda a, k: a if k in CONSTANTS or a.replace("_", "").isalnum() else f"({a})"
    return ebb.format(*(plain(a, k) for (a, _), k in zip(args, kinds.split()))), "(" + sql.format(*(b for _, b in args)) + ")"
