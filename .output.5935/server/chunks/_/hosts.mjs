import { M as MAX_NAME_CHARACTERS } from './names.mjs';
import { s as servedDomains } from './store4.mjs';
import { P as PRODUCTION } from './store.mjs';
import { T as TYPES } from './types.mjs';

function hostsOf(service, environment, domains = servedDomains()) {
  if (!TYPES[service.type].hasHosts) return [];
  return domains.map((domain) => `${service.name}.${placeOf(environment, domain)}`).filter((host) => host.length <= MAX_NAME_CHARACTERS);
}
function placeOf(environment, domain) {
  return environment.name === PRODUCTION ? domain : `${environment.name}.${domain}`;
}
function customDomainsOf({ custom_domains }) {
  return JSON.parse(custom_domains);
}
function allHostsOf(service, environment, domains) {
  return [...hostsOf(service, environment, domains), ...customDomainsOf(service)];
}

export { allHostsOf as a, customDomainsOf as c, hostsOf as h, placeOf as p };
