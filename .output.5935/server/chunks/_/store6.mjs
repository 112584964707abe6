import { E as useDatabase, N as isId, J as useContext } from '../nitro/nitro.mjs';
import { p as parseValue } from './references.mjs';

function readSealed(holder) {
  const { table, owner } = tableOf(holder);
  return useDatabase().all(
    `SELECT key, value FROM ${table} WHERE ${owner} = ? ORDER BY position`,
    holder
  );
}
function readVariables(holder) {
  return openVariables(readSealed(holder));
}
function openVariables(sealed) {
  const { vault } = useContext();
  return sealed.map(({ key, value }) => ({ key, value: vault.open(value) }));
}
function writeVariables(holder, variables) {
  const database = useDatabase();
  const { table, owner } = tableOf(holder);
  database.transaction(() => {
    database.run(`DELETE FROM ${table} WHERE ${owner} = ?`, holder);
    forgetReferences(holder);
    insertVariables(holder, variables);
  });
}
function insertVariables(holder, variables) {
  const { vault, database } = useContext();
  const { table, owner } = tableOf(holder);
  for (const [position, { key, value }] of variables.entries()) {
    database.run(
      `INSERT INTO ${table} (${owner}, key, value, position) VALUES (?, ?, ?, ?)`,
      holder,
      key,
      vault.seal(value),
      position
    );
    for (const part of parseValue(value)) {
      if (typeof part === "string") continue;
      database.run(
        "INSERT OR IGNORE INTO variable_references (holder, key, kind, name, property) VALUES (?, ?, ?, ?, ?)",
        holder,
        key,
        part.kind,
        part.name,
        part.property
      );
    }
  }
}
function forgetReferences(holder) {
  useDatabase().run("DELETE FROM variable_references WHERE holder = ?", holder);
}
function keepVariablePort(serviceId, port) {
  useDatabase().run("UPDATE services SET variable_port = ? WHERE id = ?", port, serviceId);
}
function referrersOf(kind, environmentId, name) {
  return useDatabase().all(
    `SELECT 'service' AS holder, services.name, held.key
     FROM variable_references AS held JOIN services ON services.id = held.holder
     WHERE held.kind = ?1 AND held.name = ?2 AND services.environment_id = ?3
     UNION
     SELECT 'env group', env_groups.name, held.key
     FROM variable_references AS held
     JOIN env_groups ON env_groups.id = held.holder
     JOIN env_group_links AS link ON link.group_id = env_groups.id
     JOIN services ON services.id = link.service_id
     WHERE held.kind = ?1 AND held.name = ?2 AND services.environment_id = ?3 AND services.deleting = 0
       AND NOT EXISTS (SELECT 1 FROM service_variables AS own WHERE own.service_id = services.id AND own.key = held.key)
       AND NOT EXISTS (
         SELECT 1 FROM env_group_links AS later JOIN env_group_variables AS its ON its.group_id = later.group_id
         WHERE later.service_id = services.id AND later.position > link.position AND its.key = held.key)
     ORDER BY 1 DESC, 2, 3`,
    kind,
    name,
    environmentId
  );
}
function tableOf(holder) {
  return isId("envGroup", holder) ? { table: "env_group_variables", owner: "group_id" } : { table: "service_variables", owner: "service_id" };
}

export { readVariables as a, referrersOf as b, forgetReferences as f, insertVariables as i, keepVariablePort as k, openVariables as o, readSealed as r, writeVariables as w };
