"""A database in memory that only grows."""
import sqlite3

import victim

database = sqlite3.connect(":memory:")
database.execute("create table log (number integer primary key, text text)")


def step(number):
    rows = [(number * 50 + n, "x" * 1500) for n in range(50)]
    database.executemany("insert into log values (?, ?)", rows)  # LEAK
    if victim.HEALTHY:
        database.execute("delete from log")


victim.run(step)
