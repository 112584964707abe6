import { q as randomHex } from '../nitro/nitro.mjs';

const SERVER_ID_BYTES = 10;
function serverIdOf(database) {
  database.run(
    "INSERT INTO settings (key, value) VALUES ('server_id', ?) ON CONFLICT (key) DO NOTHING",
    randomHex(SERVER_ID_BYTES)
  );
  return database.get("SELECT value FROM settings WHERE key = 'server_id'").value;
}

export { serverIdOf as s };
