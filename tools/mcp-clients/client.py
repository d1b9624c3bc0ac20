"""Runs every tool of `nacre mcp` by the official Python SDK; then 1,000 calls, a kill, and a new connection.

usage: client.py NACRE FOLDER CALLS MODE     (MODE: auto, as new clients begin, or legacy)
"""

import asyncio
import json
import os
import signal
import sys
import time

from mcp import Client
from mcp.client.stdio import StdioServerParameters

NACRE, FOLDER, CALLS, MODE = sys.argv[1:5]
MAX_CHARS = 9_000
# What a server may grow in 1,000 calls after it is warm: the allocator keeps some, a leak of one result a call would be far more.
MAX_GROWTH_KB = 4_096


def server() -> StdioServerParameters:
    # Nothing of this process but what the server needs.
    env = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"]}
    return StdioServerParameters(command=NACRE, args=["mcp"], cwd=FOLDER, env=env)


def child() -> int:
    """The server, which is the only child of this process that is called so."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()
            command = open(f"/proc/{name}/cmdline").read().split("\0")
        except OSError:
            continue
        if int(stat[1]) == os.getpid() and command[:2] == [NACRE, "mcp"]:
            return int(name)
    raise AssertionError("the server is not running")


def rss_kb(pid: int) -> int:
    lines = open(f"/proc/{pid}/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


async def call(client: Client, name: str, arguments: dict) -> tuple[str, bool]:
    result = await client.call_tool(name, arguments)
    text = "".join(block.text for block in result.content)
    assert len(text) <= MAX_CHARS, f"{name}: {len(text)} characters"
    return text, bool(result.is_error)


async def every_tool(client: Client, calls: list) -> None:
    for case in calls:
        text, is_error = await call(client, case["tool"], case["arguments"])
        wanted = case.get("error") or case["expect"]
        assert is_error == ("error" in case) and wanted in text, f"{case}: {text}"
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert tools - {case["tool"] for case in calls} == set(), tools
    resources = (await client.list_resources()).resources
    read = await client.read_resource(resources[0].uri)
    assert "Evidence" in read.contents[0].text, read
    assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {"recall", "remember"}
    prompt = await client.get_prompt("recall", {"topic": "the queue"})
    assert "the queue" in prompt.messages[0].content.text, prompt
    try:
        await client.call_tool("no_such_tool", {})
        raise AssertionError("an unknown tool was called")
    except Exception as error:
        assert "Unknown tool" in str(error), error


async def many_calls(client: Client, calls: list) -> tuple[int, int, float]:
    kinds = [case for case in calls if case["tool"] != "memory_add"]
    pid = child()
    for n in range(200):
        await call(client, kinds[n % len(kinds)]["tool"], kinds[n % len(kinds)]["arguments"])
    # The allocator takes a new arena once in a while; a leak grows in every round.
    for _ in range(3):
        before, begun = rss_kb(pid), time.monotonic()
        for n in range(1_000):
            case = kinds[n % len(kinds)]
            await call(client, case["tool"], case["arguments"])
        after = rss_kb(pid)
        if after - before <= MAX_GROWTH_KB:
            break
    assert after - before <= MAX_GROWTH_KB, f"{before} kB before, {after} kB after"
    return before, after, (time.monotonic() - begun)


async def killed(calls: list) -> None:
    """A server that dies is an error of the call, and the next one works."""
    try:
        async with Client(server(), mode=MODE, read_timeout_seconds=10) as client:
            await call(client, "status", {})
            os.kill(child(), signal.SIGKILL)
            try:
                await call(client, "status", {})
                raise AssertionError("a dead server answered")
            except AssertionError:
                raise
            except Exception:
                pass
    except AssertionError:
        raise
    except BaseException:
        pass
    async with Client(server(), mode=MODE) as client:
        await call(client, calls[0]["tool"], calls[0]["arguments"])


async def main() -> None:
    calls = json.load(open(CALLS))
    begun = time.monotonic()
    async with Client(server(), mode=MODE) as client:
        await client.list_tools()
        handshake = (time.monotonic() - begun) * 1000
        await every_tool(client, calls)
        together = [call(client, "memory_search", {"query": f"queue {n}"}) for n in range(50)]
        await asyncio.gather(*together)
        before, after, seconds = await many_calls(client, calls)
    await killed(calls)
    print(f"python ({MODE}): {client_version()}, start to tools/list {handshake:.0f} ms, 1,000 calls in {seconds:.1f} s, "
          f"{before} kB before and {after} kB after")


def client_version() -> str:
    from importlib.metadata import version

    return f"mcp {version('mcp')}"


asyncio.run(main())
