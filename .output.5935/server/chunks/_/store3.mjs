import { E as useDatabase, N as isId, A as AppError } from '../nitro/nitro.mjs';

function findEnvGroup(idOrName) {
  const column = isId("envGroup", idOrName) ? "id" : "name";
  const found = useDatabase().get(`SELECT * FROM env_groups WHERE ${column} = ?`, idOrName);
  if (!found) throw new AppError("not_found", `there is no env group ${idOrName}`);
  return found;
}
function listEnvGroups() {
  return useDatabase().all("SELECT * FROM env_groups ORDER BY name");
}
function insertEnvGroup({ id, name, created_at, updated_at }) {
  useDatabase().run("INSERT INTO env_groups VALUES (?, ?, ?, ?)", id, name, created_at, updated_at);
}
function touchEnvGroup(id) {
  useDatabase().run("UPDATE env_groups SET updated_at = ? WHERE id = ?", Date.now(), id);
}
function deleteEnvGroupRow(id) {
  useDatabase().run("DELETE FROM env_groups WHERE id = ?", id);
}
const LINKED_SERVICES = `SELECT links.group_id, services.id, services.name, services.environment_id,
    environments.name AS environment, services.deleting
  FROM env_group_links AS links
  JOIN services ON services.id = links.service_id
  JOIN environments ON environments.id = services.environment_id`;
const LINKED_ORDER = "ORDER BY environments.created_at, environments.id, services.name";
function linkedServices(groupId) {
  return useDatabase().all(
    `${LINKED_SERVICES} WHERE links.group_id = ? ${LINKED_ORDER}`,
    groupId
  );
}
function linkedServicesByGroup() {
  const rows = useDatabase().all(`${LINKED_SERVICES} ${LINKED_ORDER}`);
  return Map.groupBy(rows, ({ group_id }) => group_id);
}
function variablesByGroup() {
  const rows = useDatabase().all(
    "SELECT * FROM env_group_variables ORDER BY group_id, position"
  );
  return Map.groupBy(rows, ({ group_id }) => group_id);
}
function groupIdsOf(serviceId) {
  return useDatabase().all(
    "SELECT group_id FROM env_group_links WHERE service_id = ? ORDER BY position",
    serviceId
  ).map(({ group_id }) => group_id);
}
function groupNamesByService(environmentId, only) {
  const rows = useDatabase().all(
    `SELECT links.service_id, env_groups.name FROM env_group_links AS links
     JOIN env_groups ON env_groups.id = links.group_id
     JOIN services ON services.id = links.service_id
     WHERE ${only === void 0 ? "services.environment_id" : "services.id"} = ?
     ORDER BY links.service_id, links.position`,
    only ?? environmentId
  );
  const names = /* @__PURE__ */ new Map();
  for (const { service_id, name } of rows) names.set(service_id, [...names.get(service_id) ?? [], name]);
  return names;
}
function writeLinks(serviceId, groupIds) {
  const database = useDatabase();
  database.transaction(() => {
    database.run("DELETE FROM env_group_links WHERE service_id = ?", serviceId);
    insertLinks(serviceId, groupIds);
  });
}
function insertLinks(serviceId, groupIds) {
  for (const [position, groupId] of [...new Set(groupIds)].entries())
    useDatabase().run("INSERT INTO env_group_links VALUES (?, ?, ?)", serviceId, groupId, position);
}

export { linkedServices as a, groupIdsOf as b, insertEnvGroup as c, deleteEnvGroupRow as d, linkedServicesByGroup as e, findEnvGroup as f, groupNamesByService as g, insertLinks as i, listEnvGroups as l, touchEnvGroup as t, variablesByGroup as v, writeLinks as w };
