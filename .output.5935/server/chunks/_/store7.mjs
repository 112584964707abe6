import { E as useDatabase } from '../nitro/nitro.mjs';

function getDatastore(id) {
  return useDatabase().get("SELECT * FROM datastores WHERE id = ?", id);
}
function getDatastoreByName(environmentId, name) {
  return useDatabase().get(
    "SELECT * FROM datastores WHERE environment_id = ? AND name = ?",
    environmentId,
    name
  );
}
function listDatastores(environmentId) {
  return useDatabase().all(
    "SELECT * FROM datastores WHERE environment_id = ? ORDER BY name",
    environmentId
  );
}
function allDatastores() {
  return useDatabase().all("SELECT * FROM datastores ORDER BY id");
}
function insertDatastore(row) {
  const columns = Object.keys(row);
  useDatabase().run(
    `INSERT INTO datastores (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    ...Object.values(row)
  );
}
function setDatastore(id, settings, isForContainer) {
  const assignments = Object.keys(settings).map((column) => `${column} = ?`);
  useDatabase().run(
    `UPDATE datastores SET ${assignments.join(", ")}, updated_at = ?, generation = generation + ? WHERE id = ?`,
    ...Object.values(settings),
    Date.now(),
    isForContainer ? 1 : 0,
    id
  );
}
function recordDatastore(id, columns) {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`);
  useDatabase().run(
    `UPDATE datastores SET ${assignments.join(", ")} WHERE id = ?`,
    ...Object.values(columns),
    id
  );
}
function observeDatastore(id, generation, error) {
  useDatabase().run(
    "UPDATE datastores SET observed_generation = ?, apply_error = ? WHERE id = ?",
    generation,
    error,
    id
  );
}
function refoundDatastore(id, ground) {
  useDatabase().run(
    "UPDATE datastores SET volume = ?, version = ?, image_id = ?, error = NULL, updated_at = ? WHERE id = ?",
    ground.volume,
    ground.version,
    ground.image_id,
    Date.now(),
    id
  );
}
function deleteDatastoreRow(id) {
  useDatabase().run("DELETE FROM datastores WHERE id = ?", id);
}
function datastoreNames(environmentId) {
  return listDatastores(environmentId).map(({ name }) => name);
}
function datastoreNamesByEnvironment() {
  const rows = useDatabase().all(
    "SELECT environment_id, name FROM datastores ORDER BY name"
  );
  const byEnvironment = Map.groupBy(rows, ({ environment_id }) => environment_id);
  return new Map([...byEnvironment].map(([id, stores]) => [id, stores.map(({ name }) => name)]));
}

export { allDatastores as a, deleteDatastoreRow as b, getDatastoreByName as c, datastoreNames as d, refoundDatastore as e, datastoreNamesByEnvironment as f, getDatastore as g, insertDatastore as i, listDatastores as l, observeDatastore as o, recordDatastore as r, setDatastore as s };
