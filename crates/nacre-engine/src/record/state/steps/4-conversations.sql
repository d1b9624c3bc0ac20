-- A session may be a conversation: it has items, stays until it is removed, and can be resumed.
ALTER TABLE session ADD COLUMN is_conversation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN project TEXT;
ALTER TABLE session ADD COLUMN model TEXT;
ALTER TABLE session ADD COLUMN approval TEXT;
ALTER TABLE session ADD COLUMN parent TEXT;
ALTER TABLE session ADD COLUMN archived INTEGER;
CREATE INDEX session_conversations ON session (updated) WHERE is_conversation = 1;
CREATE INDEX task_by_session ON task (session);
CREATE TABLE active_session (
  workspace TEXT PRIMARY KEY,
  session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE
) STRICT;
CREATE TABLE item (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  task TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  json TEXT NOT NULL,
  UNIQUE (session, sequence)
) STRICT;
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  is_last INTEGER NOT NULL,
  json TEXT NOT NULL,
  UNIQUE (task, sequence)
) STRICT;
