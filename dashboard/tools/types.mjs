// Writes src/lib/wire.ts from docs/schema.json: the wire types that the dashboard uses, and everything that they refer to.
// Run it with `npm run types` after `make docs`; with `--check` it writes nothing and fails where
// the file is another one.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';

const USED = `
AskReport AskRequest BriefReport ConfigGetReport ConfigSetReport ConfigSetRequest ConfigShowReport ConnectReport ConnectRequest
ContextReport ContextRequest DeltaReport DeltaRequest DoctorReport ErrorReport ExploreReport ExploreRequest
FeedbackReport FeedbackRequest MaintainReport MaintainRequest MemoryAddRequest MemoryChangeReport
MemoryChangesReport MemoryListReport MemoryListRequest MemoryRelatedReport MemoryRelatedRequest
MemorySearchReport MemorySearchRequest MemoryShowReport MemoryShowRequest ModelListReport ModelStatsReport
ModelTestReport ModelTestRequest ProjectAddReport ProjectAddRequest ProjectListReport ProjectRemoveReport
ProjectRemoveRequest QueueChangeReport QueueListReport QueueListRequest RefreshRequest ReviewListReport
ReviewListRequest LimitRequest RunListReport RunShowReport StatusReport SyncReport SyncRequest
TaskCancelReport TaskListReport TaskShowReport ToolStatsReport TraceListReport TraceListRequest
TraceSearchReport TraceSearchRequest TraceShowReport TraceShowRequest TrustReport UndoListReport
UndoReport UndoRequest`
  .trim()
  .split(/\s+/);

const schemas = new URL('../../docs/schema.json', import.meta.url);
const target = fileURLToPath(new URL('../src/lib/wire.ts', import.meta.url));

// The types carry lengths and formats that TypeScript has no use for. A reference beside other keywords becomes one of
// them: alone where the others only describe it, else together with them.
function plain(node) {
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== 'object' || node === null) return node;
  const { format, minimum, maximum, $schema, title, $defs, $ref, ...rest } = node;
  const out = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, key === 'properties' ? plainFields(value) : plain(value)]),
  );
  if (typeof $ref !== 'string') return out;
  const reference = { $ref: $ref.replace('#/$defs/', '#/definitions/') };
  return 'properties' in out ? { allOf: [reference, out] } : reference;
}

// The names of fields are no keywords, also where they sound like one: `title`, `format`.
function plainFields(fields) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, plain(field)]));
}

const { $defs: schema } = JSON.parse(await readFile(schemas, 'utf8'));
const definitions = {};
const waiting = [...USED];
while (waiting.length > 0) {
  const name = waiting.pop();
  if (name in definitions) continue;
  definitions[name] = plain(schema[name]);
  waiting.push(...[...JSON.stringify(schema[name]).matchAll(/"#\/\$defs\/(\w+)"/g)].map(([, inner]) => inner));
}

const root = {
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(Object.keys(definitions).sort().map((name) => [name, { $ref: `#/definitions/${name}` }])),
  definitions,
};
const banner = '// Written by `npm run types` from docs/schema.json. Do not edit: change the wire type, and run it again.\n';
let text = await compile(root, 'WireTypes', {
  bannerComment: banner,
  additionalProperties: false,
  style: { singleQuote: true, printWidth: 110 },
});
// The object that only gathers the types is of no use to anybody.
text = text.replace(/export interface WireTypes \{[\s\S]*?\n\}\n/, '');
text += `export const LEARNING_KINDS: LearningKind[] = ${JSON.stringify(schema.LearningKind.enum)};\n`;
if (process.argv.includes('--check')) {
  if (text !== (await readFile(target, 'utf8'))) {
    console.error('src/lib/wire.ts is not what docs/schema.json says. Run: npm run types');
    process.exit(1);
  }
} else {
  await writeFile(target, text);
  console.log(`${target}: ${text.split('\n').length} lines`);
}
