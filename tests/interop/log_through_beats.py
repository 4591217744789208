"""Run by a test: `PORT N` logs N records through python-logstash-async's handler, and waits until all are delivered."""

import logging
import sys
import time

from logstash_async.constants import constants
from logstash_async.handler import AsynchronousLogstashHandler

constants.QUEUED_EVENTS_BATCH_SIZE = constants.QUEUED_EVENTS_BEATS_BATCH_SIZE = 2000
constants.QUEUED_EVENTS_FLUSH_COUNT = 1999
constants.QUEUE_CHECK_INTERVAL = 0.05
constants.QUEUED_EVENTS_FLUSH_INTERVAL = 0.2


class Numbers(logging.Formatter):
    def format(self, record: logging.LogRecord) -> bytes:  # type: ignore[override]
        # The handler's queue sorts what it holds as text: here that is the order in which it was logged.
        return f'{{"order": "{record.args[0]:08}", "number": {record.args[0]}}}'.encode()  # type: ignore[index]


def main(port: int, n_records: int) -> None:
    handler = AsynchronousLogstashHandler(
        "127.0.0.1",
        port,
        database_path=None,
        transport="logstash_async.transport.BeatsTransport",
        ssl_enable=False,
    )
    handler.setFormatter(Numbers())
    logger = logging.getLogger("application")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(handler)
    for number in range(n_records):
        logger.info("record %d", number)
    worker = handler._worker_thread
    while not worker._queue.empty() or worker._database._cache:
        time.sleep(0.05)
    handler.close()


main(int(sys.argv[1]), int(sys.argv[2]))
