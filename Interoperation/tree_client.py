"""firebase-admin against this package's REST endpoints of the tree: what it does is asserted, step by step.

    tree_client.py PORT

Prints one JSON object: the version, and the steps that were done.
"""

import json
import os
import sys
import threading

PORT = sys.argv[1]
os.environ["FIREBASE_DATABASE_EMULATOR_HOST"] = f"127.0.0.1:{PORT}"

import firebase_admin
from firebase_admin import credentials, db, exceptions
from google.auth.credentials import AnonymousCredentials


class Anonymous(credentials.Base):
    def get_credential(self):
        return AnonymousCredentials()


firebase_admin.initialize_app(Anonymous(), {"databaseURL": f"http://127.0.0.1:{PORT}/?ns=test", "projectId": "test"})
root = db.reference("/open")
steps = []


def step(name, found, expected):
    if found != expected:
        raise AssertionError(f"{name}: {found!r} instead of {expected!r}")
    steps.append(name)


root.set({"a": 1, "b": {"c": "x", "list": [1, 2, 3]}, "none": {}})
step("set and get", root.get(), {"a": 1, "b": {"c": "x", "list": [1, 2, 3]}})
root.update({"a": 2, "b/c": "y", "new/deep": True})
step("update", root.get(), {"a": 2, "b": {"c": "y", "list": [1, 2, 3]}, "new": {"deep": True}})
pushed = root.child("log").push({"x": 1})
step("push", root.child("log").get(), {pushed.key: {"x": 1}})
root.child("log").delete()
step("delete", root.child("log").get(), None)
step("shallow", root.get(shallow=True), {"a": True, "b": True, "new": True})

value, tag = root.child("a").get(etag=True)
step("unchanged", root.child("a").get_if_changed(tag), (False, None, None))
done, value, next_tag = root.child("a").set_if_unchanged(tag, 4)
step("set if unchanged", (done, value), (True, 4))
step("set again with the new tag", root.child("a").set_if_unchanged(next_tag, 5)[:2], (True, 5))
step("conflict", root.child("a").set_if_unchanged(tag, 6)[:2], (False, 5))
step("changed", root.child("a").get_if_changed(tag)[:2], (True, 5))

counter = root.child("counter")
step("transaction", [counter.transaction(lambda count: (count or 0) + 1) for _ in range(2)], [1, 2])
interfering = iter([100])


def add(count):
    for other in interfering:
        counter.set(other)
    return (count or 0) + 1


step("transaction with a conflict", counter.transaction(add), 101)

people = root.child("people")
people.set({"ada": {"age": 36, "body": {"cm": 170}}, "bob": {"age": 20, "body": {"cm": 180}}, "eve": {"age": 28, "body": {"cm": 160}}})
step("order by child", list(people.order_by_child("age").get()), ["bob", "eve", "ada"])
step("by a path, last", list(people.order_by_child("body/cm").limit_to_last(2).get()), ["ada", "bob"])
step("start", list(people.order_by_child("age").start_at(25).get()), ["eve", "ada"])
step("end, first", list(people.order_by_child("age").end_at(28).limit_to_first(1).get()), ["bob"])
step("equal to nothing", list(people.order_by_child("age").equal_to(29).get()), [])
step("equal", list(people.order_by_child("age").equal_to(28).get()), ["eve"])
step("order by key", list(people.order_by_key().start_at("b").end_at("c").get()), ["bob"])
root.child("scores").set({"a": 3, "b": 1, "c": 2})
step("order by value", list(root.child("scores").order_by_value().limit_to_first(2).get()), ["b", "c"])
root.child("at").set({".sv": "timestamp"})
step("timestamp", root.child("at").get() > 1_000_000_000_000, True)

try:
    root.update({"a": 1, "a/b": 2})
    raise AssertionError("overlapping paths were accepted")
except exceptions.InvalidArgumentError:
    steps.append("refused update")

heard, enough = [], threading.Event()


def listener(event):
    heard.append((event.event_type, event.path, event.data))
    first.set()
    if len(heard) == 5:
        enough.set()


first = threading.Event()
root.child("live").listen(listener)
first.wait(20)
root.child("live/x").set(1)
root.child("live").update({"x": 3, "y": 2})
root.child("live/x").delete()
root.child("live/ü").set("naïve ☕")
enough.wait(20)
step("listen", heard, [("put", "/", None), ("put", "/x", 1), ("patch", "/", {"x": 3, "y": 2}), ("put", "/x", None), ("put", "/ü", "naïve ☕")])

print(json.dumps({"version": firebase_admin.__version__, "steps": steps}), flush=True)
# Its listener's thread does not end by itself.
os._exit(0)
