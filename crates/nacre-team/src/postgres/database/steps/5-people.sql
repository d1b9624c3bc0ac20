-- People who may ask a server, and what they asked for. Times are milliseconds since 1970.
CREATE TABLE nacre.token (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  -- Of the token only this is kept.
  hash text COLLATE "C" NOT NULL UNIQUE,
  person text COLLATE "C" NOT NULL,
  -- A line each: the scope, a tab, and the project or `*`.
  permissions text NOT NULL,
  created bigint NOT NULL,
  expires bigint,
  revoked bigint
);
CREATE INDEX token_by_person ON nacre.token (person, place);
CREATE TABLE nacre.audit (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  who text COLLATE "C" NOT NULL,
  what text NOT NULL,
  project text COLLATE "C",
  outcome text NOT NULL
);
CREATE INDEX audit_by_time ON nacre.audit (at DESC, place DESC);
