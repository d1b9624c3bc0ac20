-- Tasks and what they told. Times are microseconds since 1970.
CREATE TABLE nacre.task_session (
  id text PRIMARY KEY,
  title text NOT NULL,
  workspace text,
  created bigint NOT NULL,
  updated bigint NOT NULL
);
CREATE TABLE nacre.runner (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host text NOT NULL,
  pid bigint NOT NULL,
  birth text NOT NULL,
  lease_until bigint NOT NULL,
  UNIQUE (host, pid, birth)
);
CREATE TABLE nacre.task (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE COLLATE "C",
  session text NOT NULL REFERENCES nacre.task_session (id),
  parent text,
  project text,
  agent text NOT NULL,
  class text NOT NULL,
  title text NOT NULL,
  state text NOT NULL,
  reason text,
  asked text,
  runner bigint NOT NULL REFERENCES nacre.runner (id),
  created bigint NOT NULL,
  started bigint,
  ended bigint,
  n_events bigint NOT NULL DEFAULT 0
);
CREATE INDEX task_unfinished ON nacre.task (session, place) WHERE ended IS NULL;
CREATE INDEX task_unfinished_by_project ON nacre.task (project, place) WHERE ended IS NULL;
CREATE INDEX task_by_parent ON nacre.task (parent) WHERE parent IS NOT NULL;
CREATE INDEX task_by_runner ON nacre.task (runner) WHERE ended IS NULL;
CREATE TABLE nacre.event (
  task text NOT NULL,
  sequence bigint NOT NULL,
  at bigint NOT NULL,
  name text NOT NULL,
  fields text NOT NULL,
  PRIMARY KEY (task, sequence)
);
