import { E as useDatabase, F as newId } from '../nitro/nitro.mjs';
import { i as isLocalName } from './names.mjs';

function listDomains() {
  return useDatabase().all("SELECT * FROM domains ORDER BY is_default DESC, created_at, id");
}
function getDomain(id) {
  return useDatabase().get("SELECT * FROM domains WHERE id = ?", id);
}
function getDomainByName(name) {
  return useDatabase().get("SELECT * FROM domains WHERE name = ?", name);
}
function isServed({ source, status }) {
  return source === "config" || status !== "pending";
}
function servedDomains() {
  return listDomains().filter(isServed).map(({ name }) => name);
}
function insertDomain(name, source) {
  const id = newId("domain");
  useDatabase().run(
    "INSERT INTO domains (id, name, source, status, created_at) VALUES (?, ?, ?, ?, ?)",
    id,
    name,
    source,
    isLocalName(name) ? "active" : "pending",
    Date.now()
  );
  return getDomain(id);
}
function setSource(id, source) {
  useDatabase().run("UPDATE domains SET source = ? WHERE id = ?", source, id);
}
function setDefault(id) {
  const database = useDatabase();
  database.transaction(() => {
    database.run("UPDATE domains SET is_default = 0 WHERE is_default = 1");
    database.run("UPDATE domains SET is_default = 1 WHERE id = ?", id);
  });
}
function setChecks(id, checks) {
  useDatabase().run("UPDATE domains SET checks = ?, checked_at = ? WHERE id = ?", checks, Date.now(), id);
}
function setVerified(id) {
  useDatabase().run("UPDATE domains SET verified_at = ? WHERE id = ? AND verified_at IS NULL", Date.now(), id);
}
function deleteDomainRow(id) {
  useDatabase().run("DELETE FROM domains WHERE id = ?", id);
}

export { getDomainByName as a, setSource as b, setDefault as c, deleteDomainRow as d, setChecks as e, setVerified as f, getDomain as g, isServed as h, insertDomain as i, listDomains as l, servedDomains as s };
