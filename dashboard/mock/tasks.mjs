// Tasks of the mock server and the events that they send: a sync, a maintenance, an answer, step by step.
import { Failure, NOW, clock } from './state.mjs';

const BOOT = 'b00700';
const KEPT = 500;

export class Tasks {
  constructor(state, pace) {
    this.state = state;
    this.pace = pace;
    this.clients = new Set();
    this.events = [];
    this.count = 0;
    this.cancelled = new Set();
    this.running = new Map();
    setInterval(() => this.clients.forEach((one) => one.response.write(': still here\n\n')), 15_000).unref();
  }

  /** Sends an event to all who listen, and keeps it for those who come back. */
  send(event, task = null) {
    const record = { id: `${BOOT}-${++this.count}`, data: { at: clock(), task, project: 'tidepool', ...event } };
    this.events.push(record);
    if (this.events.length > KEPT) this.events.shift();
    for (const client of this.clients) write(client, record);
    const shown = this.state.data.task[task];
    if (shown && ['step', 'note', 'words'].includes(event.event)) {
      shown.events.push({ sequence: shown.events.length + 1, at: record.data.at, event: 'notice', text: event.text });
    }
  }

  changed(what) {
    this.send({ event: 'changed', what });
  }

  stream(request, response, task) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(': open\n\n');
    const client = { response, task };
    const last = request.headers['last-event-id'];
    if (last) {
      const at = this.events.findIndex((one) => one.id === last);
      if (at < 0 && this.events.length > 0) write(client, { id: `${BOOT}-${this.count}`, data: { at: NOW, task: null, project: null, event: 'missed' } });
      this.events.slice(at + 1).forEach((one) => at >= 0 && write(client, one));
    }
    this.clients.add(client);
    request.on('close', () => this.clients.delete(client));
  }

  /** Starts a task that runs `steps`, each after its pause; the last one's value is the report. */
  start(agent, title, steps) {
    const id = `task_${Date.now().toString(36)}${this.count}`;
    const at = clock();
    const entry = { id, session: `sess_${id.slice(5)}`, parent: null, project: '/home/ana/tidepool', agent, class: 'interactive', title, state: 'running', reason: null, created: at, started: at, ended: null, events: 0 };
    this.state.data.tasks.tasks.unshift(entry);
    this.state.data.task[id] = { task: entry, events: [] };
    this.running.set(id, this.run(id, entry, steps));
    return { task: id };
  }

  async run(id, entry, steps) {
    const tell = (state) => this.send({ event: 'task', state, agent: entry.agent, title: entry.title }, id);
    // The answer to the request comes first.
    await new Promise((resolve) => setTimeout(resolve, 5));
    tell('queued');
    tell('running');
    let report;
    let end = 'completed';
    for (const [pause, step] of steps) {
      await new Promise((resolve) => setTimeout(resolve, pause * this.pace));
      if (this.cancelled.has(id)) {
        end = 'cancelled';
        break;
      }
      report = await step((event) => this.send(event, id));
    }
    Object.assign(entry, { state: end, reason: end === 'cancelled' ? 'cancelled' : 'done', ended: clock() });
    if (end === 'completed') this.state.reports.set(id, report);
    tell(end);
    return report;
  }

  wait(id) {
    return this.running.get(id);
  }

  cancel(id) {
    const entry = this.state.data.tasks.tasks.find((one) => one.id === id);
    if (!entry) throw new Failure(404, 'not_found', `There is no task \`${id}\``, ['`nacre events` lists them.']);
    const isOver = !['running', 'queued', 'accepted'].includes(entry.state);
    if (!isOver) this.cancelled.add(id);
    return { task: id, ended: [], asked: isOver ? [] : [id] };
  }

  ask(body) {
    const { ask } = this.state.data;
    const question = body.question.toLowerCase();
    const kind = /font|logo/.test(question) ? 'unknown' : body.no_model ? 'memories' : /fail/.test(question) ? 'failed' : /queue|sqlite|postgres/.test(question) ? 'model' : 'memories';
    const report = { ...ask[kind], question: body.question };
    const step = (text) => [300, (send) => send({ event: 'step', text })];
    const steps = [step('Search the memories')];
    if (report.by === 'model') {
      steps.push([300, (send) => send({ event: 'note', text: `memory_search ${JSON.stringify(body.question)}` })], step('Ask the model'));
      report.sentences.forEach((one, at) => steps.push([700, (send) => send({ event: 'sentence', text: `${at === 0 ? '' : ' '}${one.text}`, starts_line: at === 0 })]));
    }
    if (kind === 'failed') steps.push([200, (send) => send({ event: 'warning', message: report.error, hint: 'nacre model test --role ask' })]);
    return this.start('ask', body.question, [...steps, [200, () => report]]);
  }

  sync() {
    const { data } = this.state;
    const report = data.sync;
    const names = ['read', 'extract', 'summarize', 'compare', 'decide', 'commit'];
    const steps = [[250, (send) => send({ event: 'step', text: 'Look for sessions' })]];
    const all = report.sessions.length * names.length;
    report.sessions.forEach((session, at) => {
      const title = session.title || 'Health check';
      names.forEach((name, n) => steps.push([260, (send) => {
        send({ event: 'step', text: `${title}: ${name}` });
        send({ event: 'progress', done: at * names.length + n + 1, total: all, bytes: 0 });
        if (name === 'decide') send({ event: 'note', text: `${title}: ${session.report.counts.add} added, ${session.report.counts.update} updated` });
      }]));
      steps.push([120, () => {
        const job = data.queue.jobs.find((one) => one.id === session.id);
        if (job) Object.assign(job, { state: 'done', run: session.report.run_id, changed: clock() });
        const run = session.report.run_id;
        if (!data.run[run]) {
          data.run[run] = { id: run, report: session.report, metrics: null };
          data.runs.runs.unshift({ id: run, mode: 'sync', counts: session.report.counts, of: session.report.trace_path });
          data.runs.total += 1;
        }
        this.changed('queue');
      }]);
    });
    return this.start('sync', 'Read new and changed sessions', [...steps, [200, () => (this.changed('memories'), report)]]);
  }

  maintain() {
    const { maintain } = this.state.data;
    const steps = ['read', 'compare', 'commit', 'index'].map((name) => [350, (send) => send({ event: 'step', text: `tidepool: ${name}` })]);
    return this.start('maintain', 'Merge duplicates, resolve contradictions and archive stale memories', [...steps, [200, () => (this.changed('memories'), maintain)]]);
  }

  refresh() {
    const { explore } = this.state.data;
    return this.start('refresh', 'Read all code again', [[300, (send) => send({ event: 'step', text: 'Read files' })], [300, () => (this.changed('map'), explore)]]);
  }

  /** What a model was asked and said in a run. Offline runs have none; the newest sync shows how it looks. */
  messages(run) {
    const newest = this.state.data.runs.runs.find((one) => one.mode === 'sync');
    if (newest?.id !== run) return [];
    return [
      { role: 'system', text: 'You read sessions of coding agents and say what is worth keeping.', at: NOW, tool: null },
      { role: 'user', text: '[1] person: Remember that the CSV export needs a UTF-8 BOM…', at: NOW, tool: null },
      { role: 'tool', text: '{"hits":[{"id":"20261005-money-is-whole-cents-never-a-float"}]}', at: NOW, tool: 'memory_search' },
      { role: 'assistant', text: '{"memories":[{"title":"The CSV export needs a UTF-8 BOM","basis":"stated"}]}', at: NOW, tool: null },
    ];
  }
}

function write(client, record) {
  if (client.task && record.data.task !== client.task && record.data.event !== 'missed') return;
  client.response.write(`id: ${record.id}\ndata: ${JSON.stringify(record.data)}\n\n`);
}
