import { I as timestamp } from '../nitro/nitro.mjs';
import { d as datastoreNames, f as datastoreNamesByEnvironment } from './store7.mjs';
import { b as publicUrl } from './public-address.mjs';
import { s as servedDomains } from './store4.mjs';
import { p as placeOf } from './hosts.mjs';
import { d as dnsOf } from './dns.mjs';
import { s as serviceNames, c as serviceNamesByEnvironment, l as listEnvironments } from './store.mjs';

function viewEnvironments() {
  const services = serviceNamesByEnvironment();
  const datastores = datastoreNamesByEnvironment();
  return listEnvironments().map((row) => view(row, services.get(row.id) ?? [], datastores.get(row.id) ?? []));
}
function viewEnvironment(row) {
  return view(row, serviceNames(row.id), datastoreNames(row.id));
}
function view(row, services, datastores) {
  return {
    id: row.id,
    name: row.name,
    created_at: timestamp(row.created_at),
    services,
    datastores,
    url_pattern: publicUrl(`<service>.${placeOf(row, servedDomains()[0])}`),
    dns: dnsOf(row)
  };
}

export { viewEnvironments as a, viewEnvironment as v };
