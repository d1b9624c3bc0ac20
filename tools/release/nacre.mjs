#!/usr/bin/env node
// Starts the program in the package for this system, an optional dependency such as nacre-linux-x64.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

const name = `nacre-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "nacre.exe" : "nacre";
let program;
try {
  program = createRequire(import.meta.url).resolve(`${name}/bin/${file}`);
} catch {
  console.error(`nacre: the package ${name} is not installed; it does not exist for every system, and npm omits it with --omit=optional`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`nacre: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
