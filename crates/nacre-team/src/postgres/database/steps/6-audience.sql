-- Search, laid out for millions of records. It is derived from files: it is emptied here, and the servers fill it again.
DROP TABLE nacre.embedding;
DROP TABLE nacre.record;
DELETE FROM nacre.unit;
-- Who may read a record: the names of the project that it belongs to, each set of names once. Whoever may read none of them does not find it.
CREATE TABLE nacre.audience (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  projects text[] NOT NULL,
  -- Of all names, a line each: a list of names may be too long for an index.
  hash text COLLATE "C" NOT NULL UNIQUE
);
CREATE INDEX audience_projects ON nacre.audience USING gin (projects);
-- What is shown of a record. Only candidates are read.
CREATE TABLE nacre.record (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  unit text NOT NULL REFERENCES nacre.unit (key) ON DELETE CASCADE,
  place integer NOT NULL,
  -- How many records its unit has: of one that stands alone no neighbours are looked for.
  n_together integer NOT NULL,
  key text NOT NULL,
  audience integer NOT NULL REFERENCES nacre.audience (id),
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
  -- How many words it has, the better fields counted more.
  length real NOT NULL,
  UNIQUE (unit, place)
);
CREATE INDEX record_audience ON nacre.record (audience);
-- Terms with their field (A title, B tags, C body, D quotes), and properties as terms of their own. Apart from the texts and not
-- compressed, since many are looked at for each question. The index by terms is made when records are loaded.
CREATE TABLE nacre.words (
  record bigint PRIMARY KEY REFERENCES nacre.record (id) ON DELETE CASCADE,
  audience integer NOT NULL,
  time_ms bigint NOT NULL,
  terms tsvector NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE nacre.words ALTER COLUMN terms SET STATISTICS 1000;
CREATE INDEX words_audience ON nacre.words (audience, time_ms DESC, record);
CREATE INDEX words_newest ON nacre.words (time_ms DESC, record);
-- Apart from the rest, too. The indexes by nearness and by audience are made when the model is known.
CREATE TABLE nacre.embedding (
  record bigint PRIMARY KEY REFERENCES nacre.record (id) ON DELETE CASCADE,
  audience integer NOT NULL,
  vector halfvec NOT NULL
);
ALTER TABLE nacre.embedding ALTER COLUMN vector SET STORAGE PLAIN;
