import { t as tell } from './changes.mjs';
import { J as useContext, E as useDatabase, l as logger, A as AppError } from '../nitro/nitro.mjs';
import { t as tryMove } from './machine.mjs';
import { b as assertDomainHostsFree } from './claims.mjs';
import { i as isLocalName, r as readName } from './names.mjs';
import { d as domainMachine } from './schema2.mjs';
import { l as listDomains, d as deleteDomainRow, a as getDomainByName, b as setSource, i as insertDomain, c as setDefault, e as setChecks, f as setVerified, g as getDomain, h as isServed } from './store4.mjs';

const log = logger("domains");
const MAX_DOMAINS = 20;
function ensureBaseDomain() {
  const { baseDomain } = useContext().options;
  useDatabase().transaction(() => {
    const domains = listDomains();
    const former = domains.find(({ source, name }) => source === "config" && name !== baseDomain);
    if (former) deleteDomainRow(former.id);
    const known = getDomainByName(baseDomain);
    if (known) setSource(known.id, "config");
    const { id } = known ?? insertDomain(baseDomain, "config");
    if (!listDomains().some(({ is_default }) => is_default === 1)) setDefault(id);
  });
}
function findDomain(idOrName) {
  const read = readName(idOrName);
  const found = getDomain(idOrName) ?? getDomainByName("name" in read ? read.name : idOrName.toLowerCase());
  if (!found) throw new AppError("not_found", `there is no domain ${idOrName}`);
  return found;
}
function createDomain({ name }) {
  const created = useDatabase().transaction(() => {
    assertDomainHostsFree(name);
    if (listDomains().length >= MAX_DOMAINS)
      throw new AppError("conflict", `there are ${MAX_DOMAINS} domains: remove one that is not needed`);
    return insertDomain(name, "api");
  });
  tellDomain(created.id, "created");
  if (isServed(created)) tellHosts();
  return created;
}
function patchDomain(domain, { is_default }) {
  if (is_default === void 0 || is_default === (domain.is_default === 1)) return domain;
  if (!is_default)
    throw new AppError(
      "invalid_request",
      `is_default: ${domain.name} is the default; make another domain the default instead`
    );
  useDatabase().transaction(() => {
    const now = getDomain(domain.id);
    if (!now || !isServed(now) || now.status === "pending")
      throw new AppError(
        "conflict",
        `domain ${domain.name} is not verified: its names do not reach the server yet`
      );
    setDefault(domain.id);
  });
  tellDomain(domain.id, "updated");
  tellHosts();
  return getDomain(domain.id);
}
function deleteDomain(domain) {
  if (domain.source === "config")
    throw new AppError(
      "conflict",
      `${domain.name} is the base domain, which is set when the server starts (--base-domain)`
    );
  useDatabase().transaction(() => {
    const isDefault = getDomain(domain.id)?.is_default === 1;
    deleteDomainRow(domain.id);
    const base = listDomains().find(({ source }) => source === "config");
    if (isDefault && base) setDefault(base.id);
  });
  tellDomain(domain.id, "deleted");
  if (isServed(domain)) tellHosts();
}
function reachesServer(checks) {
  const outcome = (kind) => checks.find((check) => check.kind === kind)?.outcome;
  return outcome("http") === "passed" || outcome("dns") === "passed" && outcome("http") === "skipped";
}
function keepChecks(domain, checks) {
  const reaches = reachesServer(checks);
  const moved = useDatabase().transaction(() => {
    setChecks(domain.id, JSON.stringify(checks));
    const moved2 = tryMove(domainMachine, domain.id, reaches ? "active" : "failed");
    if (!moved2 || !reaches) return moved2;
    setVerified(domain.id);
    const shown = listDomains().find(({ is_default }) => is_default === 1);
    if (shown && isLocalName(shown.name)) setDefault(domain.id);
    return true;
  });
  tellDomain(domain.id, "updated");
  if (!moved) return false;
  if (reaches) log.info(`${domain.name} is active: its names reach this server`);
  else log.warn(`${domain.name} no longer reaches this server; it is still served`, { checks });
  tellHosts();
  return true;
}
function tellDomain(id, action) {
  tell({ kind: "domain", id, service_id: null, action });
}
function tellHosts() {
  tell({ kind: "all", id: "*", service_id: null, action: "resync" });
}

export { createDomain as c, deleteDomain as d, ensureBaseDomain as e, findDomain as f, keepChecks as k, patchDomain as p, reachesServer as r };
