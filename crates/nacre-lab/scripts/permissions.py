#!/usr/bin/env python3
"""Asks a real server generated requests as people with every mix of scopes, and looks for anything of a project that they may not read.

    crates/nacre-lab/scripts/permissions.py target/debug/nacre [REQUESTS] [SECONDS]

Five projects, each with a word of its own in its memories and code, and memories of the owner's; a token for every subset of the projects, with
scopes in turn, and three that hold everywhere. Of each answer it asks: does it hold a word or a name of something hidden that the request did not
say? Is a request about something hidden answered like one about a name that nobody has? Eleven people listen to the events meanwhile. Ends with 1
where something was found.
"""
import http.client
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
N = os.path.abspath(sys.argv[1])
H = tempfile.mkdtemp()
env = {'HOME': H, 'PATH': os.environ['PATH']}
P = ['vault%d' % i for i in range(5)]
W = ['zqamber', 'zqbasil', 'zqcedar', 'zqdelta', 'zqember']
OWN = 'zqowner'
NOP = 'vaultx'
NOW = 'zqnever'

def run(args, cwd):
    r = subprocess.run([N] + args, cwd=cwd, env=env, capture_output=True, text=True)
    return r
ids = []
for p, w in zip(P, W):
    d = f'{H}/{p}'
    os.makedirs(d + '/.git')
    open(d + '/main.py', 'w').write(f'def {w}_main():\n    return 1\n')
    run(['project', 'add', d], H)
    for t in (w, w + ' backup'):
        r = run(['--json', 'memory', 'add', f'Keep the {t} queue in one file', '--body', f'The {t} worker reads it whole.'], d)
        ids.append(json.loads(r.stdout)['id'])
r = run(['--json', 'memory', 'add', f'Keep the {OWN} queue in one file', '--body', OWN, '--scope', 'global_only'], f'{H}/{P[0]}')
ids.append(json.loads(r.stdout)['id'])
callers = []

def tok(*a):
    r = run(['--json', 'server', 'token', 'add', *a], H)
    return json.loads(r.stdout)['token']
S = ['read', 'write', 'admin']
for i, s in enumerate(S):
    callers.append((tok('all-' + s, '--scope', s), i == 2, set(range(5))))
for st in range(1, 31):
    rd = [n for n in range(5) if st >> n & 1]
    a = [f'person-{st}']
    for n in rd:
        a += ['--in', f'{P[n]}={S[(n + st) % 3]}']
    callers.append((tok(*a), False, set(rd)))
sv = subprocess.Popen([N, 'serve', '--port', '0', '--no-loops', '--json'], cwd=H, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
buf = ''
while True:
    buf += sv.stdout.readline()
    try:
        addr = json.loads(buf)['address']
        break
    except ValueError:
        pass
print('setup done', addr, flush=True)
host, port = addr.split(':')

def ask(token, verb, target, body, conn=[None]):
    c = http.client.HTTPConnection(host, int(port), timeout=120)
    h = {'Host': addr, 'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream', 'If-Match': '"0"'}
    if token:
        h['Authorization'] = 'Bearer ' + token
    c.request(verb, target, None if verb == 'GET' else json.dumps(body), h)
    r = c.getresponse()
    d = r.read().decode('utf8', 'replace')
    c.close()
    return (r.status, d)
doc = json.loads(ask(None, 'GET', '/api/openapi.json', None)[1])
routes = [(v.upper(), p, o['x-scope']) for p, vs in doc['paths'].items() for v, o in vs.items()]
heard = {}

def listen(i):
    c = http.client.HTTPConnection(host, int(port))
    c.request('GET', '/api/events', headers={'Host': addr, 'Authorization': 'Bearer ' + callers[i][0]})
    r = c.getresponse()
    heard[i] = ''
    try:
        while True:
            l = r.fp.readline()
            if not l:
                break
            heard[i] += l.decode('utf8', 'replace')
    except Exception:
        pass
for i in range(0, len(callers), 3):
    threading.Thread(target=listen, args=(i,), daemon=True).start()
TOOLS = ['memory_search', 'memory_get', 'memory_add', 'memory_remove', 'brief', 'trace_search', 'context', 'code_search', 'explore', 'status']

def gen(R, route):
    verb, path, _ = route
    k = R.randrange(8)
    proj = None if k < 2 else NOP if k == 2 else R.choice(P)
    k = R.randrange(6)
    word = NOW if k == 0 else OWN if k == 1 else R.choice(W)
    i = R.choice(ids)
    i = i[:R.randrange(4, 13)] if R.randrange(4) == 0 else i
    path = path.replace('{id}', i).replace('{task}', i).replace('{agent}', 'claude')
    q = [f'project={proj}'] if proj else []
    sc = R.choice(['project_only', 'global_only', 'project_fallback_global'])
    own = W[P.index(proj)] if proj in P else 'plain'
    body = {}
    if path == '/api/search':
        q.append(f'query={word}&scope={sc}')
    elif path == '/api/memories' and verb == 'GET':
        q.append(f'all=true&scope={sc}')
    elif path == '/api/memories':
        body = {'type': 'learning', 'title': f'Remember the {own} rule number {R.randrange(1000)}', 'body': own}
    elif path == '/api/review' and verb == 'POST':
        body = {'ids': [i], 'decision': 'accept'}
    elif path == '/api/brief':
        q.append(f'task={word}')
    elif path in ('/api/graph', '/api/review', '/api/trust'):
        q.append(f'scope={sc}')
    elif path == '/api/ask':
        q.append('wait=true')
        body = {'question': f'What about {word}?', 'no_model': True}
    elif path == '/api/maintain':
        q.append('wait=true')
        body = {'dry_run': True, 'all': R.random() < 0.5}
    elif path in ('/v1/explore', '/v1/delta', '/v1/refresh'):
        body = {'project': proj}
    elif path == '/v1/context':
        body = {'project': proj, 'task': word}
    elif path == '/v1/search-code':
        body = {'project': proj, 'query': word}
    elif path == '/api/pull' and verb == 'POST':
        body = {'ids': [i]}
    elif path == '/api/push':
        body = {'memories': [{'id': i, 'type': 'decision', 'text': '---\nid: ' + i + '\n---\n'}]}
    elif path == '/mcp':
        body = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name': R.choice(TOOLS), 'arguments': R.choice([{'query': word}, {'id': i}, {'task': word}])}}
    elif path.endswith('/feedback'):
        body = {'verdict': 'useful'}
    if path.startswith('/v1'):
        q = []
    return (verb, path + ('?' + '&'.join(q) if q else ''), body)

def hidden(c):
    if c[1]:
        return []
    return [x for n in range(5) if n not in c[2] for x in ((P[n], NOP), (W[n], NOW))] + [(OWN, NOW)]

def strip(text):
    try:
        text = json.dumps({k: v for k, v in json.loads(text)['error'].items() if k != 'hints'})
    except (ValueError, KeyError, TypeError):
        pass
    return re.sub('\\d', '', text)
stat = dict(asked=0, ok=0, twins=0, bad=[], st={})
okr = set()
lock = threading.Lock()
TOTAL = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
DEAD = time.time() + float(sys.argv[3] if len(sys.argv) > 3 else 1800)

def work(seed):
    R = random.Random(seed)
    while stat['asked'] < TOTAL and time.time() < DEAD:
        c = R.choice(callers)
        rt = R.choice(routes)
        if rt[1] in ('/api/events', '/api/login') or (c[1] and rt[2] == 'admin of all projects' and (rt[0] != 'GET')):
            continue
        a = gen(R, rt)
        s, d = ask(c[0], *a)
        with lock:
            stat['asked'] += 1
            stat['st'][s] = stat['st'].get(s, 0) + 1
            if s == 200:
                stat['ok'] += 1
                okr.add(rt[1])
        said = ' '.join([a[0], a[1], json.dumps(a[2])])
        hd = hidden(c)
        if s >= 500 and 'There are no global memories yet' not in d:
            stat['bad'].append(('5xx', a, s, d[:300]))
        for w, _ in hd:
            if w not in said and w in d:
                stat['bad'].append(('leak', w, a, s, d[:300]))
        men = [(w, o) for w, o in hd if w in said]
        if men and (not (rt[1] == '/api/memories' and rt[0] == 'POST' and (s == 200))):
            t = a[1]
            b = json.dumps(a[2])
            e = d
            for w, o in men:
                t = t.replace(w, o)
                b = b.replace(w, o)
                e = e.replace(w, o)
            s2, d2 = ask(c[0], a[0], t, json.loads(b))
            stat['twins'] += 1
            if s2 != s:
                stat['bad'].append(('twin status', a, s, s2, d[:200], d2[:200]))
            elif s == 200:
                for w, o in men:
                    if d.count(w) != d2.count(o):
                        stat['bad'].append(('twin count', w, a, d[:300], d2[:300]))
            elif strip(d2) != strip(e):
                stat['bad'].append(('twin text', a, d[:300], d2[:300]))
ts = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[t.start() for t in ts]
[t.join() for t in ts]
time.sleep(1)
for i, h in heard.items():
    for w, _ in hidden(callers[i]):
        if w in h:
            stat['bad'].append(('heard', i, w))
print('asked', stat['asked'], 'ok', stat['ok'], 'twins', stat['twins'], 'status', stat['st'], 'streams', len(heard), 'events heard', sum((h.count('data:') for h in heard.values())), 'ok routes', len(okr), 'bad', len(stat['bad']))
for b in stat['bad'][:12]:
    print(b)
sv.send_signal(2)
sv.wait(20)
shutil.rmtree(H, ignore_errors=True)
sys.exit(1 if stat['bad'] else 0)
