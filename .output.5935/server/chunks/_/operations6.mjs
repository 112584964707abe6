import { c as tellService, t as tell } from './changes.mjs';
import { F as newId, E as useDatabase, G as isUniqueViolation, A as AppError } from '../nitro/nitro.mjs';
import { a as assertNotDeleting } from './operations3.mjs';
import { u as updateService, g as getService } from './store5.mjs';
import { b as settlePort, a as settleEnvironment, R as Reading } from './operations2.mjs';
import { a as assertSize, p as patchVariables } from './rules.mjs';
import { i as insertVariables, w as writeVariables, a as readVariables, f as forgetReferences } from './store6.mjs';
import { a as linkedServices, c as insertEnvGroup, f as findEnvGroup, b as groupIdsOf, w as writeLinks, t as touchEnvGroup, d as deleteEnvGroupRow } from './store3.mjs';
import { n as nameOfLinked } from './view5.mjs';

function createEnvGroup({ name, vars }) {
  assertSize(vars, "vars");
  const now = Date.now();
  const row = { id: newId("envGroup"), name, created_at: now, updated_at: now };
  useDatabase().transaction(() => {
    try {
      insertEnvGroup(row);
    } catch (cause) {
      if (!isUniqueViolation(cause)) throw cause;
      throw new AppError("conflict", `name: ${name} is in use by env group ${findEnvGroup(name).id}`, {
        cause
      });
    }
    insertVariables(row.id, vars);
  });
  tellEnvGroup(row.id, "created");
  return row;
}
function replaceGroupVariables(group, variables, path = "vars") {
  assertSize(variables, path);
  useDatabase().transaction(() => {
    writeVariables(group.id, variables);
    touchEnvGroup(group.id);
    const reading = new Reading();
    for (const service of servicesOf(group)) {
      if (!service.deleting) settleEnvironment(service.id, { groups: path }, reading);
    }
  });
  tellEnvGroup(group.id, "updated");
  return findEnvGroup(group.id);
}
function changeGroupVariables(group, set, unset) {
  return replaceGroupVariables(group, patchVariables(readVariables(group.id), set, unset), "set");
}
function deleteEnvGroup(group, force) {
  const linked = linkedServices(group.id);
  if (linked.length > 0 && !force) {
    throw new AppError(
      "conflict",
      `env group ${group.name} is linked to ${linked.map(nameOfLinked).join(", ")}: unlink it first, or repeat with force=true`
    );
  }
  useDatabase().transaction(() => {
    const services = servicesOf(group);
    forgetReferences(group.id);
    deleteEnvGroupRow(group.id);
    const reading = new Reading();
    for (const service of services) settlePort(service, reading);
  });
  tellEnvGroup(group.id, "deleted");
  for (const { id } of linked) tellService(id);
}
function environmentsOf(group) {
  return [...new Set(linkedServices(group.id).map(({ environment_id }) => environment_id))];
}
function linkEnvGroup(service, groupRef) {
  const group = findEnvGroup(groupRef);
  assertNotDeleting(service);
  const linked = groupIdsOf(service.id);
  if (linked.includes(group.id)) return service;
  useDatabase().transaction(() => {
    writeLinks(service.id, [...linked, group.id]);
    updateService(service.id, {});
    settleEnvironment(service.id, { groups: "group" });
  });
  tellService(service.id);
  return getService(service.id);
}
function unlinkEnvGroup(service, groupRef) {
  const group = findEnvGroup(groupRef);
  const linked = groupIdsOf(service.id);
  if (!linked.includes(group.id)) {
    throw new AppError("not_found", `service ${service.name} is not linked to env group ${group.name}`);
  }
  assertNotDeleting(service);
  useDatabase().transaction(() => {
    writeLinks(
      service.id,
      linked.filter((id) => id !== group.id)
    );
    updateService(service.id, {});
    settlePort(getService(service.id));
  });
  tellService(service.id);
  return getService(service.id);
}
function servicesOf(group) {
  return linkedServices(group.id).map(({ id }) => getService(id));
}
function tellEnvGroup(id, action) {
  tell({ kind: "env_group", id, service_id: null, action });
}

export { changeGroupVariables as a, createEnvGroup as c, deleteEnvGroup as d, environmentsOf as e, linkEnvGroup as l, replaceGroupVariables as r, unlinkEnvGroup as u };
