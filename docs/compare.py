"""Compares bin/ebb with DuckDB: the queries of examples/nexmark over the same files, CPU and wall seconds of each.

Ebb is measured as a whole process, DuckDB inside of one that has loaded it already. Both read a file and write one of
the same format, with two threads. The number of rows that they write must be the same. Arguments choose queries: q5 q17.
"""

import os
import resource
import statistics
import subprocess
import sys
import time

import duckdb

EVENTS = int(os.environ.get("EBB_BENCH_EVENTS", "1000000"))
ROUNDS = int(os.environ.get("EBB_BENCH_ROUNDS", "3"))
THREADS = 2
COLUMNS = {"auction": "BIGINT", "bidder": "BIGINT", "price": "BIGINT", "channel": "VARCHAR", "url": "VARCHAR", "date_time": "BIGINT", "extra": "VARCHAR"}
SCHEMA = "schema { auction: int, bidder: int, price: int, channel: string, url: string, date_time: time(ms), extra: string }"
TIME = "make_timestamp(date_time * 1000)"

SQL = {
    "q0": f"SELECT auction, bidder, price, {TIME} AS date_time, extra FROM bid",
    "q1": f"SELECT auction, bidder, 0.908::DOUBLE * price AS price, {TIME} AS date_time, extra FROM bid",
    "q2": "SELECT auction, price FROM bid WHERE auction % 123 = 0",
    "q14": f"""SELECT auction, bidder, 0.908::DOUBLE * price AS price,
        CASE WHEN hour({TIME}) BETWEEN 8 AND 18 THEN 'dayTime' WHEN hour({TIME}) <= 6 OR hour({TIME}) >= 20 THEN 'nightTime' ELSE 'otherTime' END AS bid_time_type,
        {TIME} AS date_time, extra, length(extra) - length(replace(extra, 'c', '')) AS c_counts
        FROM bid WHERE 0.908::DOUBLE * price > 1000000 AND 0.908::DOUBLE * price < 50000000""",
    "q21": """SELECT * FROM (SELECT auction, bidder, price, channel,
        CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1' WHEN 'facebook' THEN '2' WHEN 'baidu' THEN '3'
        ELSE nullif(regexp_extract(url, '(&|^)channel_id=([^&]*)', 2), '') END AS channel_id FROM bid) WHERE channel_id IS NOT NULL""",
    "q22": "SELECT auction, bidder, price, channel, split_part(url, '/', 4) AS dir1, split_part(url, '/', 5) AS dir2, split_part(url, '/', 6) AS dir3 FROM bid",
    "q5": """SELECT auction, sum(n)::BIGINT AS num, make_timestamp(w * 2000000) AS window_start, make_timestamp((w + 5) * 2000000) AS window_end
        FROM (SELECT auction, date_time // 2000 AS slice, count(*) AS n FROM bid GROUP BY ALL), range(5) r(k), LATERAL (SELECT slice - k AS w)
        GROUP BY auction, w""",
    "q12": """SELECT bidder, count(*) AS bid_count, make_timestamp(w * 10000000) AS starttime, make_timestamp((w + 1) * 10000000) AS endtime
        FROM (SELECT bidder, date_time // 10000 AS w FROM bid) GROUP BY bidder, w""",
    "q15": f"""SELECT strftime({TIME}, '%Y-%m-%d') AS day, count(*) AS total_bids,
        count(*) FILTER (price < 10000) AS rank1_bids, count(*) FILTER (price >= 10000 AND price < 1000000) AS rank2_bids, count(*) FILTER (price >= 1000000) AS rank3_bids,
        count(DISTINCT bidder) AS total_bidders, count(DISTINCT bidder) FILTER (price < 10000) AS rank1_bidders,
        count(DISTINCT bidder) FILTER (price >= 10000 AND price < 1000000) AS rank2_bidders, count(DISTINCT bidder) FILTER (price >= 1000000) AS rank3_bidders,
        count(DISTINCT auction) AS total_auctions, count(DISTINCT auction) FILTER (price < 10000) AS rank1_auctions,
        count(DISTINCT auction) FILTER (price >= 10000 AND price < 1000000) AS rank2_auctions, count(DISTINCT auction) FILTER (price >= 1000000) AS rank3_auctions
        FROM bid GROUP BY ALL""",
    "q17": f"""SELECT auction, strftime({TIME}, '%Y-%m-%d') AS day, count(*) AS total_bids,
        count(*) FILTER (price < 10000) AS rank1_bids, count(*) FILTER (price >= 10000 AND price < 1000000) AS rank2_bids, count(*) FILTER (price >= 1000000) AS rank3_bids,
        min(price) AS min_price, max(price) AS max_price, avg(price) AS avg_price, sum(price)::BIGINT AS sum_price
        FROM bid GROUP BY ALL""",
}


def cpu(who):
    r = resource.getrusage(who)
    return r.ru_utime + r.ru_stime


def measure(run, who):
    at, before = time.perf_counter(), cpu(who)
    run()
    return cpu(who) - before, time.perf_counter() - at


def ebb_script(query, kind, source, target):
    text = open(f"examples/nexmark/{query}.ebb").read()
    text = text.replace('source bids = nexmark("bid", events: events)', f'source bids = {kind}("{source}")\n    {SCHEMA}\n    time date_time lag 1s')
    text = text.replace(f'jsonl("{query}.jsonl")', f'{kind}("{target}")')
    assert source in text and target in text, query
    return text


def lines(path):
    with open(path, "rb") as f:
        return sum(block.count(b"\n") for block in iter(lambda: f.read(1 << 20), b""))


def make_bids(kind):
    path = f".bench/bid-{EVENTS}.{kind}"
    if not os.path.exists(path):
        script = f'sink out = {kind}("{path}") {SCHEMA}\nnexmark("bid", events: {EVENTS}) |> into out'
        subprocess.run(["bin/ebb", "run", "-c", script], check=True)
    return path


def compare(db, query, kind):
    source, ours, theirs = make_bids(kind), f".bench/ebb-{query}.{kind}", f".bench/duckdb-{query}.{kind}"
    script = ebb_script(query, kind, source, ours)
    columns = "{" + ", ".join(f"'{k}': '{v}'" for k, v in COLUMNS.items()) + "}"
    reader = {
        "csv": f"read_csv('{source}', header = true, auto_detect = false, delim = ',', quote = '\"', columns = {columns})",
        "jsonl": f"read_json('{source}', format = 'newline_delimited', columns = {columns})",
    }[kind]
    options = {"csv": "FORMAT csv, HEADER", "jsonl": "FORMAT json"}[kind]
    sql = f"COPY (WITH bid AS (SELECT * FROM {reader}) {SQL[query]}) TO '{theirs}' ({options})"

    def ebb():
        subprocess.run(["bin/ebb", "run", "-", "--parallelism", str(THREADS)], input=script.encode(), check=True)

    def duck():
        db.execute(sql)

    ebb(), duck()  # warm up
    a, b = [], []
    for _ in range(ROUNDS):  # a b b a
        a.append(measure(ebb, resource.RUSAGE_CHILDREN))
        b.append(measure(duck, resource.RUSAGE_SELF))
        b.append(measure(duck, resource.RUSAGE_SELF))
        a.append(measure(ebb, resource.RUSAGE_CHILDREN))
    assert lines(ours) == lines(theirs), f"{query} from {kind}: {lines(ours)} lines, DuckDB {lines(theirs)}"
    os.remove(ours), os.remove(theirs)
    mid = lambda xs: tuple(statistics.median(x[i] for x in xs) for i in (0, 1))
    return mid(a), mid(b)


def main():
    db = duckdb.connect()
    db.execute(f"SET threads = {THREADS}")
    print(f"{EVENTS} events, {THREADS} threads, DuckDB {duckdb.__version__}, median of {2 * ROUNDS} runs; a ratio is Ebb / DuckDB, 0.5 is half of the seconds")
    print(f"{'query':<12}{'ebb cpu':>9}{'duck cpu':>10}{'ratio':>7}{'ebb wall':>11}{'duck wall':>11}{'ratio':>7}")
    for kind in ("csv", "jsonl"):
        for query in sys.argv[1:] or SQL:
            (ec, ew), (dc, dw) = compare(db, query, kind)
            print(f"{kind + ' ' + query:<12}{ec:>9.3f}{dc:>10.3f}{ec / dc:>7.2f}{ew:>11.3f}{dw:>11.3f}{ew / dw:>7.2f}", flush=True)


main()
