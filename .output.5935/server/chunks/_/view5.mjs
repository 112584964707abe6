import { I as timestamp } from '../nitro/nitro.mjs';
import { q as qualifiedName } from './qualified-name.mjs';
import { r as readSealed, o as openVariables } from './store6.mjs';
import { a as linkedServices, v as variablesByGroup, e as linkedServicesByGroup, l as listEnvGroups } from './store3.mjs';

function viewEnvGroups() {
  const variables = variablesByGroup();
  const services = linkedServicesByGroup();
  return listEnvGroups().map((row) => view(row, variables.get(row.id) ?? [], services.get(row.id) ?? []));
}
function viewEnvGroup(row) {
  return view(row, readSealed(row.id), linkedServices(row.id));
}
function nameOfLinked({ name, environment }) {
  return qualifiedName(name, { name: environment });
}
function view(row, variables, services) {
  return {
    id: row.id,
    name: row.name,
    vars: openVariables(variables),
    services: services.map(nameOfLinked),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at)
  };
}

export { viewEnvGroups as a, nameOfLinked as n, viewEnvGroup as v };
