-- Sessions that wait for a run, one row each, and what services did. Times are milliseconds since 1970.
CREATE TABLE nacre.job (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL UNIQUE,
  agent text NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  title text,
  project text,
  last_activity bigint,
  grown bigint NOT NULL,
  offered bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'running', 'done', 'empty', 'skipped', 'dead')),
  reason text,
  attempts integer NOT NULL DEFAULT 0,
  not_before bigint NOT NULL DEFAULT 0,
  lease text,
  lease_until bigint,
  claimed bigint,
  run text,
  changed bigint NOT NULL,
  CHECK ((state = 'running') = (lease IS NOT NULL AND lease_until IS NOT NULL))
);
-- One job of a project runs at a time, whoever claims it.
CREATE UNIQUE INDEX job_one_running ON nacre.job (project) NULLS NOT DISTINCT WHERE state = 'running';
CREATE INDEX job_waiting ON nacre.job (last_activity, session_id, place) WHERE state = 'pending';
CREATE INDEX job_leases ON nacre.job (lease_until) WHERE state = 'running';
CREATE INDEX job_by_change ON nacre.job (changed DESC);
CREATE TABLE nacre.service_run (
  id text COLLATE "C" PRIMARY KEY,
  what text NOT NULL,
  started bigint NOT NULL,
  finished bigint,
  outcome text
);
CREATE INDEX service_run_latest ON nacre.service_run (what, started DESC, id DESC);
