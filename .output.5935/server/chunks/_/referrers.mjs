import { E as useDatabase, A as AppError } from '../nitro/nitro.mjs';
import { b as referrersOf } from './store6.mjs';

function assertNameFree(environmentId, name) {
  const holder = useDatabase().get(
    `SELECT 'service' AS kind, id FROM services WHERE environment_id = ?1 AND name = ?2
     UNION ALL
     SELECT 'datastore', id FROM datastores WHERE environment_id = ?1 AND name = ?2`,
    environmentId,
    name
  );
  if (!holder) return;
  throw new AppError("conflict", `name: ${name} is in use by ${holder.kind} ${holder.id}`);
}

const MAX_TOLD = 20;
function assertUnreferenced(kind, environmentId, name, remedy) {
  const fault = referenceFault(kind, environmentId, name);
  if (fault !== null) throw new AppError("conflict", `${fault}${remedy}`);
}
function referenceFault(kind, environmentId, name) {
  const referrers = referrersOf(kind, environmentId, name);
  if (referrers.length === 0) return null;
  const told = referrers.slice(0, MAX_TOLD).map(({ holder, name: name2, key }) => `${key} of ${holder} ${name2}`);
  const more = referrers.length > MAX_TOLD ? ` and ${referrers.length - MAX_TOLD} more` : "";
  return `${kind} ${name} is referred to by ${told.join(", ")}${more}: change them first`;
}

export { assertNameFree as a, assertUnreferenced as b, referenceFault as r };
