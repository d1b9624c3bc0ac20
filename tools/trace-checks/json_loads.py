"""The yardstick: the time of a plain json.loads loop over JSONL files, CPU seconds on stdout."""
import json
import sys
import time

size = records = 0
start = time.process_time()
for path in sys.argv[1:]:
    with open(path, "rb") as lines:
        for line in lines:
            size += len(line)
            try:
                json.loads(line)
                records += 1
            except ValueError:
                pass
seconds = time.process_time() - start
print(f"{seconds:.3f} {size} {records}")
