CREATE TABLE spending (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  project TEXT,
  session TEXT NOT NULL,
  role TEXT NOT NULL,
  model TEXT NOT NULL,
  input INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cost INTEGER
) STRICT;
CREATE INDEX spending_by_time ON spending (at);
CREATE INDEX spending_by_session ON spending (session);
