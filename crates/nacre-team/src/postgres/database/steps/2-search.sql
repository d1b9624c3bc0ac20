-- What can be found: units that change as a whole, and their records.
CREATE TABLE nacre.search_model (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  model text NOT NULL,
  dims integer NOT NULL
);
CREATE TABLE nacre.unit (
  key text PRIMARY KEY,
  stamp bigint NOT NULL,
  side bigint NOT NULL,
  content bigint NOT NULL
);
CREATE TABLE nacre.record (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  unit text NOT NULL REFERENCES nacre.unit (key) ON DELETE CASCADE,
  place integer NOT NULL,
  key text NOT NULL,
  -- The names of the project that it belongs to. Whoever may read none of them does not find it.
  projects text[] NOT NULL,
  time_ms bigint NOT NULL,
  voice smallint NOT NULL,
  speaker text NOT NULL,
  standing smallint NOT NULL,
  confidence real NOT NULL,
  title text NOT NULL,
  tags text NOT NULL,
  body text NOT NULL,
  quotes text NOT NULL,
  -- Properties and links, a line each: the name or the kind, a tab, the value.
  facets text NOT NULL,
  links text NOT NULL,
  -- Terms with their field (A title, B tags, C body, D quotes), and properties as terms of their own.
  terms tsvector NOT NULL,
  -- How many words it has, the better fields counted more.
  length real NOT NULL,
  UNIQUE (unit, place)
);
ALTER TABLE nacre.record ALTER COLUMN terms SET STATISTICS 1000;
CREATE INDEX record_terms ON nacre.record USING gin (terms) WITH (fastupdate = off);
CREATE INDEX record_newest ON nacre.record (time_ms DESC, id);
-- Apart from the texts, so that a scan of one project reads little. The index by nearness is made when the model is known.
CREATE TABLE nacre.embedding (
  record bigint PRIMARY KEY REFERENCES nacre.record (id) ON DELETE CASCADE,
  projects text[] NOT NULL,
  vector halfvec NOT NULL
);
ALTER TABLE nacre.embedding ALTER COLUMN vector SET STORAGE PLAIN;
CREATE INDEX embedding_projects ON nacre.embedding USING gin (projects) WITH (fastupdate = off);
