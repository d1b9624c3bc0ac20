CREATE TABLE token (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,
  person TEXT NOT NULL,
  permissions TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER
) STRICT;
CREATE INDEX token_by_person ON token (person, place);
CREATE TABLE audit (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  project TEXT,
  outcome TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
