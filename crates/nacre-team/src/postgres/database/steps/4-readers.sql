-- Which server can read the trace of which session. A server claims only what it can read.
CREATE TABLE nacre.job_reader (
  server text NOT NULL,
  job bigint NOT NULL REFERENCES nacre.job (place) ON DELETE CASCADE,
  PRIMARY KEY (server, job)
);
CREATE INDEX job_reader_by_job ON nacre.job_reader (job);
