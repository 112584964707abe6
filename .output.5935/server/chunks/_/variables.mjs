import { c as tellService } from './changes.mjs';
import { E as useDatabase } from '../nitro/nitro.mjs';
import { a as settleEnvironment } from './operations2.mjs';
import { p as patchVariables, a as assertSize } from './rules.mjs';
import { a as readVariables, w as writeVariables } from './store6.mjs';
import { a as assertNotDeleting } from './operations3.mjs';
import { u as updateService } from './store5.mjs';

function replaceVariables(service, variables, path = "vars") {
  assertSize(variables, path);
  assertNotDeleting(service);
  useDatabase().transaction(() => {
    writeVariables(service.id, variables);
    updateService(service.id, {});
    settleEnvironment(service.id, { own: path, groups: path });
  });
  tellService(service.id);
  return readVariables(service.id);
}
function changeVariables(service, set, unset) {
  return replaceVariables(service, patchVariables(readVariables(service.id), set, unset), "set");
}

export { changeVariables as c, replaceVariables as r };
