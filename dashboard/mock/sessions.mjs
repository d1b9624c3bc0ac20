// The sessions of a made-up person, Ana, in a made-up repository, `tidepool`: what the recorded data of the mock server is made from.
// `u` is what she says, `a` what the agent says, `t` a tool call [name, input, output, failed].

const u = (text) => ({ u: text });
const a = (text) => ({ a: text });
const t = (name, input, output, failed = false) => ({ t: [name, input, output, failed] });

const test = (name, output, failed) => t('Bash', { command: `cargo test ${name}` }, output, failed);
const read = (path, output) => t('Read', { file_path: path }, output);
const edit = (path, from, to) => t('Edit', { file_path: path, old_string: from, new_string: to }, 'The file was updated.');

/** A long piece of work, so that a transcript has several pages. */
function migration() {
  const turns = [
    u('Move every price in the code from f64 to whole cents. Go file by file and run the tests after each.'),
    a('I start with `src/money.rs` and work outwards.'),
  ];
  const files = ['money', 'orders/mod', 'orders/cart', 'orders/discount', 'report/daily', 'report/monthly', 'report/csv',
    'http/routes', 'http/checkout', 'queue/store', 'queue/worker', 'tides/fees'];
  files.forEach((file, n) => {
    turns.push(read(`src/${file}.rs`, `pub fn total(items: &[Item]) -> f64 {\n    items.iter().map(|item| item.price).sum()\n}\n// ${file}: ${40 + n * 7} lines`));
    turns.push(edit(`src/${file}.rs`, '-> f64', '-> Cents'));
    const fails = n % 4 === 2;
    turns.push(test(file.split('/')[0], fails
      ? `error[E0308]: mismatched types\n  --> src/${file}.rs:${12 + n}:9\n   |\n   | expected \`Cents\`, found \`f64\`\n\ntest result: FAILED. ${20 + n} passed; 1 failed`
      : `running ${20 + n} tests\ntest result: ok. ${20 + n} passed; 0 failed; finished in 0.${n}4s`, fails));
    turns.push(a(fails
      ? `\`src/${file}.rs\` had a second sum that still returned \`f64\`. I changed it too:\n\n\`\`\`rust\npub fn total(items: &[Item]) -> Cents {\n    items.iter().map(|item| item.price).sum()\n}\n\`\`\``
      : `\`src/${file}.rs\` is done. ${files.length - n - 1} files left.`));
    if (n === 4) turns.push(u('Round only at the very end, when an invoice is printed. Never round a single line.'));
    if (n === 8) turns.push(u('We decided to keep tax rates in basis points, as integers. 19 % is 1900.'));
  });
  turns.push(a('All twelve files use `Cents`. The suite passes.'), u('Remember that discounts are applied before tax, never after it.'), a('Noted, and covered by a test.'));
  return turns;
}

export const SESSIONS = [
  { agent: 'claude', day: '2026-10-06', time: '09:12', title: 'Report test fails at night', turns: [
    u('Why does the report test fail at night?'),
    test('report', 'test report::daily ... FAILED\nassertion `left == right` failed\n  left: 2026-10-05\n right: 2026-10-06', true),
    read('src/report/daily.rs', 'let day = Local::now().date_naive();'),
    a('It compares a local date with a UTC date. I raised its timeout.'),
    u('Remember that the report tests need TZ=UTC. Without it they fail after 23:00.'),
    a('I set `TZ=UTC` in the `Makefile`, and the tests pass.'),
  ] },
  { agent: 'codex', day: '2026-10-07', time: '14:40', title: 'A queue that survives a restart', turns: [
    u('Orders get lost when the worker restarts. Put them into a queue that survives it.'),
    a('I suggest Redis with a list per worker.'),
    u('We decided to use SQLite for the queue. There is no server to run, and one file to back up.'),
    test('queue', 'test result: ok. 14 passed; 0 failed'),
    a('The queue is a table in `orders.db` now; the worker resumes after a restart.'),
  ] },
  { agent: 'cursor', day: '2026-10-09', time: '10:05', title: 'A chart of the tides', turns: [
    u('Add a chart of the tides to the start page'),
    a('I added the chart, and its package with npm install.'),
    u('no, remember: always use pnpm here, never npm: npm writes a second lock file'),
    a('Done: removed `package-lock.json` and installed it with pnpm.'),
  ] },
  { agent: 'claude', day: '2026-10-12', time: '16:30', title: 'Prices as whole cents', turns: migration() },
  { agent: 'claude', day: '2026-10-14', time: '11:02', title: 'Staging deploy', turns: [
    u('Deploy the branch to staging.'),
    t('Bash', { command: 'make deploy ENV=staging' }, 'migrating… error: table orders has no column named currency', true),
    a('The workers wrote rows before the migration ran.'),
    u('Remember: run the migrations before the workers start, never after. Otherwise rows are written without a currency.'),
    a('I changed the order in `deploy.sh`.'),
    u('Staging is wiped every Monday at 06:00, so do not keep anything there.'),
    a('Understood.'),
  ] },
  { agent: 'codex', day: '2026-10-15', time: '09:48', title: 'Slow forecast', turns: [
    u('The forecast page takes four seconds. Find out why.'),
    test('tides --release', 'test tides::forecast ... ok (4.02s)'),
    a('`forecast` reads the station file again for each hour. I keep it in memory now: 4.0 s became 90 ms.'),
    u('Good. I prefer a cache that is bounded; remember to always give caches a size limit.'),
    a('It holds at most 64 stations.'),
  ] },
  { agent: 'claude', day: '2026-10-19', time: '13:20', title: 'HTTP errors', turns: [
    u('Every handler returns errors in its own shape. Make them the same.'),
    a('I can use problem+json, or a small type of our own.'),
    u("Let's go with problem+json (RFC 9457) for all HTTP errors."),
    test('http', 'test result: ok. 31 passed; 0 failed'),
    a('All 14 handlers answer with `application/problem+json`.'),
  ] },
  { agent: 'claude', day: '2026-10-21', time: '15:55', title: 'Flaky import', turns: [
    u('tools/import_tides.py fails every other day.'),
    t('Bash', { command: 'python3 tools/import_tides.py' }, 'urllib.error.HTTPError: HTTP Error 429: Too Many Requests', true),
    a('The tide service allows one request a second. I added a pause and a retry.'),
    u('Remember that the tide service allows one request per second, and bans us for an hour if we ask faster.'),
    a('The import now waits 1.2 s between requests.'),
  ] },
  { agent: 'cursor', day: '2026-10-23', time: '10:41', title: 'Colours of the chart', turns: [
    u('Use other colours in the chart, these cannot be told apart.'),
    a('I use blue and orange now.'),
    u('I always want colour-blind safe palettes in charts; use the Okabe-Ito palette.'),
    a('Done.'),
  ] },
  { agent: 'codex', day: '2026-10-26', time: '17:10', title: 'Backups', turns: [
    u('How do we back up orders.db while the worker writes?'),
    a('Copying the file can tear it. `sqlite3 orders.db ".backup out.db"` is safe.'),
    u('Never copy orders.db with cp while the worker runs; always use .backup.'),
    a('`make backup` does that.'),
  ] },
  { agent: 'claude', day: '2026-10-28', time: '08:58', title: 'Queue outgrows SQLite', turns: [
    u('The queue locks up at 300 orders a second. What now?'),
    test('queue --features load', 'throughput: 287/s\nerror: database is locked', true),
    a('SQLite takes one writer at a time. Postgres with SKIP LOCKED would take 4,000 a second.'),
    u('We decided to use Postgres for the queue instead of SQLite, because one machine is too small now.'),
    a('The queue uses Postgres; `orders.db` stays for the reports.'),
  ] },
  { agent: 'claude', day: '2026-10-30', time: '14:14', title: 'Commit messages', turns: [
    u('Commit this.'),
    t('Bash', { command: 'git commit -m "Fix Stuff."' }, '[main 3fe1a20] Fix Stuff.'),
    u('no, I prefer commit subjects in lower case, with the module in front: `queue: retry twice`'),
    a('Amended: `queue: retry twice`.'),
  ] },
  { agent: 'codex', day: '2026-11-02', time: '11:30', title: 'Time zones in the API', turns: [
    u('A client in Lisbon sees tomorrow’s tides.'),
    a('The API sends local times without an offset.'),
    u('All times in the API are UTC with a Z. The browser turns them into local time.'),
    a('Changed, with a test for Lisbon and Auckland.'),
  ] },
  { agent: 'claude', day: '2026-11-04', time: '09:33', title: 'Feature flags', turns: [
    u('Should we buy a feature-flag service?'),
    a('For six flags a table is enough.'),
    u('Agreed. We use a table `flags` and no service for feature flags.'),
    a('There is a table, and a page to switch them.'),
  ] },
  { agent: 'claude', day: '2026-11-06', time: '16:02', title: 'Secrets in logs', turns: [
    u('A password appeared in the worker log.'),
    t('Grep', { pattern: 'DATABASE_URL', path: 'src' }, 'src/queue/store.rs:18: tracing::info!("connect to {url}");'),
    a('`store.rs` logged the connection string. I log the host only.'),
    u('Remember: never log connection strings, only host and database.'),
    a('Done, and a test looks for `postgres://` in the log.'),
  ] },
  { agent: 'cursor', day: '2026-11-09', time: '12:20', title: 'Bundle size', turns: [
    u('The start page loads 900 KB of script.'),
    a('The chart library is 610 KB of it. uPlot would be 45 KB.'),
    u('Use uPlot for all charts; the old chart library goes.'),
    a('The page loads 120 KB now.'),
  ] },
  { agent: 'codex', day: '2026-11-11', time: '10:10', title: 'Retry policy', turns: [
    u('How often does the worker retry?'),
    a('Three times, at once.'),
    u('Retries wait 1, 4 and 16 seconds from now on. Without a pause we made the outage worse.'),
    test('queue retry', 'test result: ok. 6 passed; 0 failed'),
    a('Done.'),
  ] },
  { agent: 'claude', day: '2026-11-13', time: '15:45', title: 'CSV export', turns: [
    u('The CSV export breaks in Excel.'),
    a('Excel wants a byte-order mark and semicolons in some locales.'),
    u('Remember that the CSV export needs a UTF-8 BOM, because Excel reads it as Latin-1 otherwise.'),
    a('Added, with a test.'),
  ] },
  { agent: 'claude', day: '2026-11-16', time: '09:20', title: 'Readme', turns: [
    u('Write a short README.'),
    a('Done: what it is, how to run it, how to test it.'),
    u('thanks'),
    a('You are welcome.'),
  ] },
  { agent: 'codex', day: '2026-11-16', time: '13:05', title: 'Health check', turns: [
    u('Add a health check for the load balancer.'),
    a('`GET /healthz` answers 200 when the queue can be reached.'),
    u('Remember that /healthz must not touch the database; the load balancer asks every second.'),
    a('It checks a flag in memory now.'),
  ] },
];

/** What Ana wrote down herself: [day, arguments of `nacre memory add`]. */
export const MEMORIES = [
  ['2026-10-05', ['Money is whole cents, never a float', '--body', 'Two invoices were a cent off in January; both came from `f64`.\n\n- prices: `Cents(i64)` in `src/money.rs`\n- rates: basis points', '--tag', 'money', '--tag', 'invoices']],
  ['2026-10-05', ['--type', 'learning', '--kind', 'convention', 'Tests live beside the code, end-to-end tests in `tests/`', '--body', 'So that a module can be read alone.', '--tag', 'tests']],
  ['2026-10-13', ['--type', 'learning', '--kind', 'procedure', 'How to release tidepool', '--body', '1. `make check`\n2. tag `vX.Y.Z`\n3. `make deploy ENV=staging`, wait for an hour\n4. `make deploy ENV=production`\n\nSee `deploy.sh`.', '--tag', 'deploy', '--tag', 'release']],
  ['2026-10-20', ['--type', 'learning', '--kind', 'pitfall', 'Station 118 reports heights in feet', '--body', 'All others report metres. `src/tides/stations.rs` converts it; do not convert it again.', '--tag', 'tides']],
  ['2026-10-20', ['Tide heights are stored in millimetres', '--body', 'Integers compare exactly, and a millimetre is finer than any gauge.', '--tag', 'tides', '--tag', 'storage']],
  ['2026-10-27', ['--type', 'learning', '--kind', 'friction', 'Debug builds of the forecast are 40 times slower', '--body', 'Use `cargo test --release` for anything under `src/tides`.', '--tag', 'tides', '--tag', 'tests']],
  ['2026-11-03', ['--type', 'learning', '--kind', 'context', 'The marina pays for the forecast, not for the shop', '--body', 'Their contract names the forecast page: it has to answer within a second.', '--tag', 'customers']],
  ['2026-11-10', ['Deploy on weekdays before 15:00 only', '--body', 'Nobody is there to roll back later.', '--tag', 'deploy']],
];

/** The repository: each commit writes some files. */
const rust = (uses, body) => `${uses.map((one) => `use crate::${one};`).join('\n')}\n\n${body}\n`;
export const COMMITS = [
  ['2026-10-05', 'start', {
    'README.md': '# tidepool\n\nOrders and tide forecasts for small harbours.\n\n    make check\n    make run\n',
    'Cargo.toml': '[package]\nname = "tidepool"\nversion = "0.4.0"\nedition = "2024"\n\n[dependencies]\naxum = "0.8"\nserde = "1"\nrusqlite = "0.37"\n',
    'Makefile': 'check:\n\tTZ=UTC cargo test\n\nrun:\n\tcargo run\n\nbackup:\n\tsqlite3 orders.db ".backup out.db"\n',
    'src/main.rs': 'mod http;\nmod money;\nmod orders;\nmod queue;\nmod report;\nmod tides;\n\nuse crate::http::routes::router;\n\nfn main() {\n    let app = router();\n    drop(app);\n}\n',
    'src/money.rs': '/// An amount in whole cents.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub struct Cents(pub i64);\n\nimpl Cents {\n    /// The tax at a rate in basis points.\n    pub fn tax(self, basis_points: i64) -> Self {\n        Self(self.0 * basis_points / 10_000)\n    }\n}\n',
    'src/orders/mod.rs': rust(['money::Cents'], 'pub mod cart;\npub mod discount;\n\n/// What somebody bought.\npub struct Order {\n    pub id: u64,\n    pub total: Cents,\n}\n'),
    'src/orders/cart.rs': rust(['money::Cents', 'orders::Order'], '/// Adds up a cart.\npub fn close(prices: &[Cents]) -> Order {\n    Order { id: 0, total: Cents(prices.iter().map(|price| price.0).sum()) }\n}\n'),
    'src/orders/discount.rs': rust(['money::Cents'], '/// A discount, applied before tax.\npub fn discount(price: Cents, basis_points: i64) -> Cents {\n    Cents(price.0 - price.tax(basis_points).0)\n}\n'),
  }],
  ['2026-10-07', 'queue: a table in SQLite', {
    'src/queue/mod.rs': 'pub mod store;\npub mod worker;\n',
    'src/queue/store.rs': rust(['orders::Order'], '/// Keeps orders until a worker took them.\npub struct Store {\n    pub waiting: Vec<Order>,\n}\n\nimpl Store {\n    pub fn push(&mut self, order: Order) {\n        self.waiting.push(order);\n    }\n}\n'),
    'src/queue/worker.rs': rust(['queue::store::Store', 'report::daily::count'], '/// Works off what waits.\npub fn work(store: &mut Store) -> usize {\n    let done = store.waiting.len();\n    store.waiting.clear();\n    count(done)\n}\n'),
  }],
  ['2026-10-12', 'report: whole cents', {
    'src/report/mod.rs': 'pub mod daily;\npub mod monthly;\npub mod csv;\n',
    'src/report/daily.rs': rust(['money::Cents', 'orders::Order'], '/// The sum of a day.\npub fn sum(orders: &[Order]) -> Cents {\n    Cents(orders.iter().map(|order| order.total.0).sum())\n}\n\npub fn count(done: usize) -> usize {\n    done\n}\n'),
    'src/report/monthly.rs': rust(['money::Cents', 'report::daily::sum', 'orders::Order'], 'pub fn month(days: &[Vec<Order>]) -> Cents {\n    Cents(days.iter().map(|day| sum(day).0).sum())\n}\n'),
    'src/report/csv.rs': rust(['report::monthly::month', 'orders::Order'], '/// With a byte-order mark, for Excel.\npub fn export(days: &[Vec<Order>]) -> String {\n    format!("\\u{feff}total;{}", month(days).0)\n}\n'),
  }],
  ['2026-10-15', 'tides: keep stations in memory', {
    'src/tides/mod.rs': 'pub mod fees;\npub mod forecast;\npub mod stations;\n',
    'src/tides/stations.rs': '/// A gauge.\npub struct Station {\n    pub id: u32,\n    /// Millimetres above chart datum.\n    pub height: i64,\n}\n',
    'src/tides/forecast.rs': rust(['tides::stations::Station'], '/// The height at an hour.\npub fn forecast(station: &Station, hour: u32) -> i64 {\n    station.height + i64::from(hour)\n}\n'),
    'src/tides/fees.rs': rust(['money::Cents', 'tides::stations::Station'], 'pub fn fee(station: &Station) -> Cents {\n    Cents(i64::from(station.id))\n}\n'),
    'tools/import_tides.py': 'import json\nimport time\nimport urllib.request\n\n\ndef fetch(station):\n    time.sleep(1.2)\n    with urllib.request.urlopen(f"https://tides.example/{station}") as answer:\n        return json.load(answer)\n\n\nif __name__ == "__main__":\n    print(fetch(118))\n',
  }],
  ['2026-10-19', 'http: problem+json', {
    'src/http/mod.rs': 'pub mod checkout;\npub mod problem;\npub mod routes;\n',
    'src/http/problem.rs': '/// An error as RFC 9457 wants it.\npub struct Problem {\n    pub status: u16,\n    pub title: String,\n}\n',
    'src/http/routes.rs': rust(['http::checkout::checkout', 'http::problem::Problem', 'report::csv::export', 'tides::forecast::forecast'], 'pub struct Router;\n\n/// All addresses.\npub fn router() -> Router {\n    Router\n}\n'),
    'src/http/checkout.rs': rust(['http::problem::Problem', 'orders::cart::close', 'queue::store::Store'], 'pub fn checkout(store: &mut Store) -> Result<(), Problem> {\n    store.push(close(&[]));\n    Ok(())\n}\n'),
  }],
  ['2026-10-23', 'web: a chart', {
    'web/package.json': '{"name":"tidepool-web","type":"module","dependencies":{"uplot":"^1.6.0"}}\n',
    'web/src/main.ts': "import { drawChart } from './chart';\nimport { loadTides } from './api';\n\nexport async function start(): Promise<void> {\n  drawChart(await loadTides(118));\n}\n",
    'web/src/chart.ts': "import uPlot from 'uplot';\nimport { height } from './format';\nimport type { Tide } from './api';\n\nexport function drawChart(tides: Tide[]): void {\n  console.log(uPlot, tides.map(height));\n}\n",
    'web/src/api.ts': 'export interface Tide {\n  at: string;\n  millimetres: number;\n}\n\nexport async function loadTides(station: number): Promise<Tide[]> {\n  return (await fetch(`/tides/${station}`)).json();\n}\n',
    'web/src/format.ts': "import type { Tide } from './api';\n\nexport function height(tide: Tide): string {\n  return `${tide.millimetres / 1000} m`;\n}\n",
  }],
  ['2026-10-28', 'queue: postgres', {
    'src/queue/store.rs': rust(['orders::Order'], '/// Keeps orders until a worker took them.\npub struct Store {\n    pub waiting: Vec<Order>,\n    pub host: String,\n}\n\nimpl Store {\n    pub fn push(&mut self, order: Order) {\n        self.waiting.push(order);\n    }\n\n    pub fn len(&self) -> usize {\n        self.waiting.len()\n    }\n}\n'),
  }],
  ['2026-11-11', 'queue: retries wait', {
    'src/queue/retry.rs': '/// Seconds before each retry.\npub const WAITS: [u64; 3] = [1, 4, 16];\n',
    'src/queue/mod.rs': 'pub mod retry;\npub mod store;\npub mod worker;\n',
    'src/queue/worker.rs': rust(['queue::retry::WAITS', 'queue::store::Store', 'report::daily::count'], '/// Works off what waits.\npub fn work(store: &mut Store, attempt: usize) -> usize {\n    let _wait = WAITS[attempt];\n    let done = store.len();\n    store.waiting.clear();\n    count(done)\n}\n'),
    'tests/report.rs': '#[test]\nfn a_day_adds_up() {\n    assert_eq!(1 + 1, 2);\n}\n',
  }],
];

/** What is changed and not committed yet. */
export const UNCOMMITTED = {
  'src/http/health.rs': '/// Whether the queue was reached lately. Does not touch the database.\npub fn healthz(reached: bool) -> u16 {\n    if reached { 200 } else { 503 }\n}\n',
  'src/http/mod.rs': 'pub mod checkout;\npub mod health;\npub mod problem;\npub mod routes;\n',
  'src/queue/store.rs': rust(['orders::Order'], '/// Keeps orders until a worker took them.\npub struct Store {\n    pub waiting: Vec<Order>,\n    pub host: String,\n}\n\nimpl Store {\n    pub fn push(&mut self, order: Order) -> usize {\n        self.waiting.push(order);\n        self.waiting.len()\n    }\n\n    pub fn len(&self) -> usize {\n        self.waiting.len()\n    }\n}\n'),
};
