CREATE TABLE source (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  version INTEGER NOT NULL,
  problem TEXT,
  UNIQUE (agent, path)
) STRICT;
CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  source INTEGER NOT NULL REFERENCES source (id),
  inner_id TEXT NOT NULL,
  revision TEXT,
  watermark TEXT,
  agent TEXT NOT NULL,
  session_id TEXT NOT NULL,
  title TEXT,
  cwd TEXT,
  project TEXT,
  started INTEGER,
  last_activity INTEGER,
  grown INTEGER NOT NULL,
  facts TEXT NOT NULL,
  report TEXT NOT NULL,
  said INTEGER NOT NULL DEFAULT 0,
  words_read INTEGER NOT NULL DEFAULT 0,
  words_kept INTEGER NOT NULL DEFAULT 0,
  UNIQUE (source, inner_id)
) STRICT;
CREATE INDEX session_by_activity ON session (last_activity DESC);
CREATE INDEX session_by_name ON session (agent, session_id);
CREATE INDEX session_unplaced ON session (cwd) WHERE project IS NULL AND cwd IS NOT NULL;
CREATE INDEX session_by_words ON session (project, words_read, words_kept);
CREATE TABLE job (
  session INTEGER PRIMARY KEY REFERENCES session (id),
  state TEXT NOT NULL,
  reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  lease TEXT,
  lease_until INTEGER,
  claimed INTEGER,
  run TEXT,
  changed INTEGER NOT NULL
) STRICT;
CREATE INDEX job_by_state ON job (state, not_before);
CREATE TABLE service_run (
  id TEXT PRIMARY KEY,
  what TEXT NOT NULL,
  started INTEGER NOT NULL,
  finished INTEGER,
  outcome TEXT
) STRICT;
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session (id),
  sequence INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX message_by_session ON message (session, sequence);
