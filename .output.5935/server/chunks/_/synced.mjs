import { t as tell } from './changes.mjs';
import { N as isId, E as useDatabase, A as AppError, I as timestamp, F as newId, J as useContext, G as isUniqueViolation } from '../nitro/nitro.mjs';
import { P as PRODUCTION, f as findEnvironment } from './store.mjs';
import { r as repositoryKey } from './same-repository.mjs';
import { s as splitCredentials } from './url.mjs';
import { s as shownUrl } from './view.mjs';

function findBlueprint(idOrName) {
  const column = isId("blueprint", idOrName) ? "id" : "name";
  const found = useDatabase().get(`SELECT * FROM blueprints WHERE ${column} = ?`, idOrName);
  if (!found) throw new AppError("not_found", `there is no blueprint ${idOrName}`);
  return found;
}
function listBlueprints() {
  return useDatabase().all("SELECT * FROM blueprints ORDER BY name");
}
function insertBlueprint(row) {
  const columns = Object.keys(row);
  useDatabase().run(
    `INSERT INTO blueprints (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    ...Object.values(row)
  );
}
function updateBlueprint(id, columns) {
  const names = Object.keys(columns);
  useDatabase().run(
    `UPDATE blueprints SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE id = ?`,
    ...Object.values(columns),
    id
  );
}
function settlePush(id, commit) {
  useDatabase().run(
    "UPDATE blueprints SET pending_commit = NULL WHERE id = ? AND pending_commit = ?",
    id,
    commit
  );
}
function deleteBlueprintRow(id) {
  useDatabase().run("DELETE FROM blueprints WHERE id = ?", id);
}

function createBlueprint(input) {
  const now = Date.now();
  const row = {
    id: newId("blueprint"),
    name: input.name,
    repo_url: input.repo_url,
    repo_credentials: null,
    branch: null,
    path: null,
    environment: null,
    auto_sync: 1,
    overwrite_variables: 0,
    pending_commit: null,
    synced_digest: null,
    last_sync: null,
    created_at: now,
    updated_at: now,
    ...columnsOf(input)
  };
  namedOnce(row.name, () => insertBlueprint(row));
  tellBlueprints();
  return row;
}
function patchBlueprint(row, patch) {
  const { repo_url, ...rest } = patch;
  const isShown = row.repo_credentials !== null && repo_url === shownUrl(row.repo_url, true);
  const columns = columnsOf(isShown ? rest : patch);
  if (Object.keys(columns).length === 0) return row;
  namedOnce(
    patch.name ?? row.name,
    () => updateBlueprint(row.id, { ...columns, synced_digest: null, updated_at: Date.now() })
  );
  tellBlueprints();
  return findBlueprint(row.id);
}
function deleteBlueprint({ id }) {
  deleteBlueprintRow(id);
  tellBlueprints();
}
function addressOf({ repo_url, repo_credentials }) {
  return repo_credentials === null ? repo_url : useContext().vault.open(repo_credentials);
}
function lastSyncOf({ last_sync }) {
  return last_sync === null ? null : JSON.parse(last_sync);
}
function recordSync(id, sync, digest) {
  updateBlueprint(id, {
    last_sync: JSON.stringify(sync),
    ...digest === void 0 ? {} : { synced_digest: digest }
  });
  tellBlueprints();
}
let onPush = () => {
};
function whenBlueprintPushed(listener) {
  onPush = listener;
}
function noteBlueprintPush({ branch, after, defaultBranch, repositories }, isAllowed) {
  const meant = listBlueprints().filter((row) => {
    if (row.auto_sync === 0 || (row.branch ?? defaultBranch) !== branch) return false;
    const key = repositoryKey(row.repo_url);
    return key !== null && repositories.has(key) && isAllowed(row.repo_url);
  });
  for (const { id } of meant) updateBlueprint(id, { pending_commit: after });
  if (meant.length > 0) onPush();
  return meant.map(({ name }) => name);
}
function viewBlueprint(row) {
  return {
    id: row.id,
    name: row.name,
    repo_url: shownUrl(row.repo_url, row.repo_credentials !== null),
    branch: row.branch,
    path: row.path,
    environment: row.environment ?? PRODUCTION,
    auto_sync: row.auto_sync === 1,
    overwrite_variables: row.overwrite_variables === 1,
    last_sync: lastSyncOf(row),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at)
  };
}
function columnsOf(input) {
  const { name, repo_url, branch, path, environment, auto_sync, overwrite_variables } = input;
  const columns = {};
  if (name !== void 0) columns.name = name;
  if (branch !== void 0) columns.branch = branch;
  if (path !== void 0) columns.path = path;
  if (environment !== void 0)
    columns.environment = environment === null ? null : findEnvironment(environment).name;
  if (auto_sync !== void 0) columns.auto_sync = auto_sync ? 1 : 0;
  if (overwrite_variables !== void 0) columns.overwrite_variables = overwrite_variables ? 1 : 0;
  if (repo_url !== void 0) {
    const { url, username, password } = splitCredentials(repo_url);
    columns.repo_url = url;
    const isOpen = username === null && password === null;
    columns.repo_credentials = isOpen ? null : useContext().vault.seal(repo_url);
  }
  return columns;
}
function namedOnce(name, write) {
  useDatabase().transaction(() => {
    try {
      write();
    } catch (cause) {
      if (!isUniqueViolation(cause)) throw cause;
      throw new AppError("conflict", `name: ${name} is in use by blueprint ${findBlueprint(name).id}`, {
        cause
      });
    }
  });
}
function tellBlueprints() {
  tell({ kind: "all", id: "*", service_id: null, action: "resync" });
}

export { addressOf as a, lastSyncOf as b, createBlueprint as c, deleteBlueprint as d, findBlueprint as f, listBlueprints as l, noteBlueprintPush as n, patchBlueprint as p, recordSync as r, settlePush as s, viewBlueprint as v, whenBlueprintPushed as w };
