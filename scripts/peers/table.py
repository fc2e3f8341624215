#!/usr/bin/env python3
"""Findings of `plumb check --format json` as a table by rule and conversation: table.py FINDINGS TRACES"""

import collections
import json
import os
import sys

findings, traces = sys.argv[1:]
rules = collections.defaultdict(lambda: collections.defaultdict(list))
with open(findings, encoding="utf-8") as lines:
    for line in lines:
        finding = json.loads(line)
        name = os.path.basename(finding["file"]).removesuffix(".jsonl")
        kind = (finding["rule"], finding["severity"], finding.get("from", "-"))
        rules[kind][name].append(finding.get("line", 0))

total = sum(len(lines) for names in rules.values() for lines in names.values())
print(f"\n{total} findings in {traces} traces")
for (rule, severity, side), names in sorted(rules.items()):
    count = sum(map(len, names.values()))
    print(f"\n{rule} ({severity}, {side}): {count} in {len(names)} conversations")
    for name, lines in sorted(names.items()):
        shown = ", ".join(map(str, lines[:8])) + (", …" if len(lines) > 8 else "")
        print(f"  {name:<44} {len(lines):>4}   lines {shown}")
