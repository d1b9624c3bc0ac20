CREATE TABLE session (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  workspace TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;
CREATE TABLE runner (
  id INTEGER PRIMARY KEY,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  birth TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  UNIQUE (host, pid, birth)
) STRICT;
CREATE TABLE task (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL REFERENCES session (id),
  parent TEXT,
  project TEXT,
  agent TEXT NOT NULL,
  class TEXT NOT NULL,
  title TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  asked TEXT,
  runner INTEGER NOT NULL REFERENCES runner (id),
  created INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  n_events INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX task_unfinished ON task (session, place) WHERE ended IS NULL;
CREATE INDEX task_by_parent ON task (parent) WHERE parent IS NOT NULL;
CREATE INDEX task_by_end ON task (ended);
CREATE TABLE event (
  task TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at INTEGER NOT NULL,
  name TEXT NOT NULL,
  fields TEXT NOT NULL,
  PRIMARY KEY (task, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE tool_call (
  task TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  step INTEGER NOT NULL,
  call TEXT NOT NULL,
  tool TEXT NOT NULL,
  fault TEXT,
  cache TEXT NOT NULL,
  at INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  shown INTEGER NOT NULL,
  PRIMARY KEY (task, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE model_call (
  id INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  step INTEGER NOT NULL,
  model TEXT NOT NULL,
  stop TEXT NOT NULL,
  at INTEGER NOT NULL,
  first_token INTEGER,
  duration INTEGER NOT NULL,
  input INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  output INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost INTEGER
) STRICT;
CREATE INDEX model_call_by_task ON model_call (task);
