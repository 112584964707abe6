import { E as useDatabase, F as newId, A as AppError } from '../nitro/nitro.mjs';

const PRODUCTION = "production";
function ensureProduction() {
  useDatabase().run(
    "INSERT INTO environments (id, name, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
    newId("environment"),
    PRODUCTION,
    Date.now()
  );
}
function findEnvironment(idOrName = PRODUCTION) {
  const found = useDatabase().get(
    "SELECT * FROM environments WHERE id = ?1 OR name = ?1",
    idOrName
  );
  if (!found) throw new AppError("not_found", `there is no environment ${idOrName}`);
  return found;
}
function listEnvironments() {
  return useDatabase().all("SELECT * FROM environments ORDER BY name <> ?, name", PRODUCTION);
}
function insertEnvironment({ id, name, subnet, created_at }) {
  useDatabase().run(
    "INSERT INTO environments (id, name, subnet, created_at) VALUES (?, ?, ?, ?)",
    id,
    name,
    subnet,
    created_at
  );
}
function deleteEnvironmentRow(id) {
  useDatabase().run("DELETE FROM environments WHERE id = ?", id);
}
function serviceNames(environmentId) {
  return useDatabase().all("SELECT name FROM services WHERE environment_id = ? ORDER BY name", environmentId).map(({ name }) => name);
}
function serviceNamesByEnvironment() {
  const rows = useDatabase().all(
    "SELECT environment_id, name FROM services ORDER BY name"
  );
  const byEnvironment = Map.groupBy(rows, ({ environment_id }) => environment_id);
  return new Map([...byEnvironment].map(([id, services]) => [id, services.map(({ name }) => name)]));
}
const SUBNET_REST_MS = 60 * 6e4;
function restSubnet(subnet) {
  useDatabase().run(
    `INSERT INTO resting_subnets (subnet, released_at) VALUES (?1, ?2)
     ON CONFLICT (subnet) DO UPDATE SET released_at = ?2`,
    subnet,
    Date.now()
  );
}
function restingSubnets() {
  const database = useDatabase();
  database.run("DELETE FROM resting_subnets WHERE released_at <= ?", Date.now() - SUBNET_REST_MS);
  return database.all("SELECT subnet FROM resting_subnets").map(({ subnet }) => subnet);
}
function setSubnet(id, subnet) {
  useDatabase().run("UPDATE environments SET subnet = ? WHERE id = ?", subnet, id);
}

export { PRODUCTION as P, setSubnet as a, restingSubnets as b, serviceNamesByEnvironment as c, deleteEnvironmentRow as d, ensureProduction as e, findEnvironment as f, insertEnvironment as i, listEnvironments as l, restSubnet as r, serviceNames as s };
