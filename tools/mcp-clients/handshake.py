#!/usr/bin/env python3
"""How long `nacre mcp` takes from its start until its tools are listed:  handshake.py NACRE FOLDER [STARTS]

Does what an agent does: starts the server in FOLDER, `initialize`, `notifications/initialized`, `tools/list`, and closes its input.
Every second start sends `server/discover` first, as the latest Claude Code does. Prints milliseconds, and the memory it used.
"""
import json, os, subprocess, sys, time


def start(nacre, folder, discovers):
    began = time.perf_counter()
    server = subprocess.Popen([nacre, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(number, method, params):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
        server.stdin.flush()
        while True:
            answer = json.loads(server.stdout.readline())
            if answer.get("id") == number:
                return answer

    if discovers:
        assert ask(0, "server/discover", {})["error"]["code"] == -32601
    client = {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "handshake", "version": "1"}}
    assert "result" in ask(1, "initialize", client)
    shaken = time.perf_counter()
    server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    tools = ask(2, "tools/list", {})["result"]["tools"]
    listed = time.perf_counter()
    server.stdin.close()
    _, code, used = os.wait4(server.pid, 0)
    ended = time.perf_counter()
    assert code == 0 and tools, (code, tools)
    return [1000 * (at - began) for at in (shaken, listed, ended)] + [used.ru_maxrss / 1024]


def main(nacre, folder, starts="50"):
    rows = [start(nacre, folder, number % 2) for number in range(int(starts))]
    for name, values in zip(("initialize", "tools/list", "ended", "memory, MiB"), zip(*rows)):
        values = sorted(values)
        print(f"{name:12} p50 {values[len(values) // 2]:7.1f}  p95 {values[int(len(values) * 0.95)]:7.1f}  max {values[-1]:7.1f}")


main(*sys.argv[1:])
