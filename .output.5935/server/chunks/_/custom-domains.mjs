import { d as assertCustomDomainFree } from './claims.mjs';
import { r as readName } from './names.mjs';
import { A as AppError } from '../nitro/nitro.mjs';
import { c as customDomainsOf } from './hosts.mjs';
import { p as patchService } from './operations3.mjs';
import { T as TYPES } from './types.mjs';

function addCustomDomain(service, host) {
  if (!TYPES[service.type].hasHosts)
    throw new AppError("invalid_request", `domain: ${TYPES[service.type].label} has no public address`);
  const domains = customDomainsOf(service);
  if (domains.includes(host)) return domains;
  assertCustomDomainFree(host, service, "domain");
  return customDomainsOf(patchService(service, { custom_domains: [...domains, host] }));
}
function findCustomDomain(service, text) {
  const domains = customDomainsOf(service);
  const read = readName(text);
  const host = domains.includes(text) || "fault" in read ? text : read.name;
  if (!domains.includes(host))
    throw new AppError("not_found", `service ${service.name} has no custom domain ${host}`);
  return host;
}
function removeCustomDomain(service, text) {
  const host = findCustomDomain(service, text);
  const left = customDomainsOf(service).filter((domain) => domain !== host);
  return customDomainsOf(patchService(service, { custom_domains: left }));
}

export { addCustomDomain as a, findCustomDomain as f, removeCustomDomain as r };
