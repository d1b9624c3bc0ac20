"""References by a language server: one process, asked again and again."""

import json
import os
import subprocess
import threading
from pathlib import Path
from urllib.parse import unquote, urlparse

LANGUAGE_IDS = {".py": "python", ".rs": "rust"}


class Server:
    def __init__(self, command, root, settings, options=None):
        self.root = Path(root).resolve()
        self.settings = settings
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.root)
        self.next_id = 0
        self.waiting = {}
        self.lock = threading.Condition()
        self.progress = set()
        self.opened = set()
        threading.Thread(target=self.read, daemon=True).start()
        uri = self.root.as_uri()
        capabilities = {"workspace": {"configuration": True, "workspaceFolders": True}, "window": {"workDoneProgress": True},
                        "textDocument": {"references": {}}}
        self.ask("initialize", {"processId": os.getpid(), "rootUri": uri, "capabilities": capabilities,
                                "initializationOptions": options or settings, "workspaceFolders": [{"uri": uri, "name": "root"}]})
        self.tell("initialized", {})
        self.tell("workspace/didChangeConfiguration", {"settings": settings})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params, timeout=600):
        with self.lock:
            self.next_id += 1
            number = self.next_id
        self.send({"id": number, "method": method, "params": params})
        with self.lock:
            if not self.lock.wait_for(lambda: number in self.waiting, timeout):
                raise TimeoutError(method)
            return self.waiting.pop(number)

    def read(self):
        out = self.process.stdout
        while True:
            size = 0
            while (line := out.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            if not size:
                return
            self.take(json.loads(out.read(size)))

    def take(self, message):
        if "method" in message and "id" in message:
            result = None
            if message["method"] == "workspace/configuration":
                result = [self.section(item.get("section", "")) for item in message["params"]["items"]]
            self.send({"id": message["id"], "result": result})
        elif message.get("method") == "$/progress":
            token, value = str(message["params"]["token"]), message["params"]["value"]
            with self.lock:
                if value.get("kind") == "end":
                    self.progress.discard(token)
                else:
                    self.progress.add(token)
                self.lock.notify_all()
        elif "id" in message:
            with self.lock:
                self.waiting[message["id"]] = message.get("result")
                self.lock.notify_all()

    def section(self, name):
        value = self.settings
        for part in filter(None, name.split(".")):
            value = value.get(part, {}) if isinstance(value, dict) else {}
        return value

    def settle(self, quiet_s, timeout):
        """Waits until nothing is in progress for a while."""
        with self.lock:
            self.lock.wait_for(lambda: self.progress, 60)
            while self.lock.wait_for(lambda: not self.progress, timeout):
                if not self.lock.wait_for(lambda: self.progress, quiet_s):
                    return

    def references(self, path, line, column):
        uri = (self.root / path).as_uri()
        if path not in self.opened:
            text = (self.root / path).read_text(encoding="utf-8", errors="replace")
            language = LANGUAGE_IDS[Path(path).suffix]
            self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}})
            self.opened.add(path)
        found = self.ask("textDocument/references", {"textDocument": {"uri": uri}, "position": {"line": line, "character": column},
                                                     "context": {"includeDeclaration": False}})
        files = set()
        for place in found or []:
            other = Path(unquote(urlparse(place["uri"]).path))
            if other.is_relative_to(self.root):
                files.add(other.relative_to(self.root).as_posix())
        return files - {path}

    def close(self):
        self.process.kill()
