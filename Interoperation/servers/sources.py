"""What the fields of every foreign server do."""

import asyncio

running = 0


async def tick(last, fail_at=None):
    for number in range(1, last + 1):
        if number == fail_at:
            raise ValueError("it failed at %d" % number)
        yield number


async def forever():
    global running
    running += 1
    try:
        number = 0
        while True:
            number += 1
            yield number
            await asyncio.sleep(0.01)
    finally:
        running -= 1


def count():
    return running
