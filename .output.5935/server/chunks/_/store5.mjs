import { E as useDatabase } from '../nitro/nitro.mjs';

function getService(id) {
  return useDatabase().get("SELECT * FROM services WHERE id = ?", id);
}
function getServiceByName(environmentId, name) {
  return useDatabase().get(
    "SELECT * FROM services WHERE environment_id = ? AND name = ?",
    environmentId,
    name
  );
}
function listServices(environmentId) {
  return useDatabase().all(
    "SELECT * FROM services WHERE environment_id = ? ORDER BY name",
    environmentId
  );
}
function aptPackagesOf({ apt_packages }) {
  return JSON.parse(apt_packages);
}
function allServices() {
  return useDatabase().all("SELECT * FROM services ORDER BY id");
}
function insertService(row) {
  const columns = Object.keys(row);
  useDatabase().run(
    `INSERT INTO services (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    ...Object.values(row)
  );
}
const AT_ONCE = /* @__PURE__ */ new Set([
  "instances",
  "suspended",
  "deleting",
  "auto_deploy",
  "schedule",
  "custom_domains",
  "canonical_domain",
  "compression",
  "watch_paths",
  "deploy_hook_key"
]);
function updateService(id, columns) {
  const now = Date.now();
  const names = Object.keys(columns);
  const isAtOnce = names.length > 0 && names.every((name) => AT_ONCE.has(name));
  const all = { ...columns, updated_at: now, ...isAtOnce ? {} : { settings_updated_at: now } };
  const assignments = Object.keys(all).map((column) => `${column} = ?, `);
  useDatabase().run(
    `UPDATE services SET ${assignments.join("")}generation = generation + 1 WHERE id = ?`,
    ...Object.values(all),
    id
  );
}
function observeService(id, generation, error) {
  useDatabase().run(
    "UPDATE services SET observed_generation = ?, apply_error = ? WHERE id = ? AND (observed_generation <> ? OR apply_error IS NOT ?)",
    generation,
    error,
    id,
    generation,
    error
  );
}
function deleteServiceRow(id) {
  useDatabase().run("DELETE FROM services WHERE id = ?", id);
}

export { AT_ONCE as A, aptPackagesOf as a, allServices as b, getServiceByName as c, deleteServiceRow as d, getService as g, insertService as i, listServices as l, observeService as o, updateService as u };
