-- Tool calls are a view of the events, so that nothing is stored twice.
DROP TABLE tool_call;
CREATE VIEW tool_call AS SELECT task, sequence, at,
  fields ->> 'tool' AS tool, fields ->> 'fault' AS fault, fields ->> 'cache' AS cache,
  fields ->> 'duration_us' AS duration, fields ->> 'bytes_out' AS bytes_out, fields ->> 'shown_bytes' AS shown
FROM event WHERE name = 'tool.result';
