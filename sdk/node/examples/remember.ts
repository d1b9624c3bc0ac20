// Adds a memory, finds it, asks a question and follows the answer.
//
//     npm test && node build/examples/remember.js PROJECT
//
// In your own package, import `nacre`.

import { Client, NacreError } from "../src/index.js";

async function main(project: string | undefined): Promise<void> {
  const client = new Client(project ? { project } : {});
  const added = await client.memories.add({ title: "Use tabs in Makefiles", body: "Make accepts nothing else." });
  console.log(`added ${added.id}`);

  for (const entry of (await client.memories.list({ limit: 5 })).memories) {
    console.log(`  ${entry.id}  ${entry.title}`);
  }

  const task = await client.ask({ question: "What do Makefiles need?", no_model: true });
  for await (const event of task.events()) {
    if (event.event === "sentence") process.stdout.write(event.text);
  }
  const report = await task.report({ timeoutMs: 60_000 });
  console.log(report.answer ?? "no answer");
}

main(process.argv[2]).catch((error: unknown) => {
  console.error(`error: ${error instanceof NacreError ? error.toString() : String(error)}`);
  process.exitCode = 1;
});
