/**
 * How far the output of a container is stored: of the engine's log, from the line with this time on, the first so many
 * lines of each stream stand before a line of the service's log, by its number. Without a time it is from the beginning.
 */
export default `
CREATE TABLE log_places (
  instance TEXT PRIMARY KEY,
  container TEXT NOT NULL,
  time TEXT,
  stdout INTEGER NOT NULL,
  stderr INTEGER NOT NULL,
  line INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`
