import { d as dnsOf } from './dns.mjs';
import { i as isLocalName } from './names.mjs';
import { r as reachesServer } from './operations.mjs';
import { a as addressRecords } from './records.mjs';
import { f as forEachLimited, b as checkDomain, a as checkHost } from './limits.mjs';

const PARALLEL = 4;
const WILDCARD = "*.";
async function checkCustomDomain(host) {
  if (isLocalName(host)) return { name: host, leads_here: true, records: [], checks: [] };
  return judged(host, await checkHost(host), addressRecords(host, true));
}
async function checkEnvironment(environment) {
  const places = dnsOf(environment);
  const found = /* @__PURE__ */ new Map();
  await forEachLimited(places, PARALLEL, async ({ wildcard, records }) => {
    const checks = await checkDomain(wildcard.slice(WILDCARD.length));
    found.set(wildcard, judged(wildcard, checks, records));
  });
  return places.map(({ wildcard }) => found.get(wildcard));
}
function judged(name, checks, records) {
  return { name, leads_here: reachesServer(checks), records, checks };
}

export { checkCustomDomain as a, checkEnvironment as c };
