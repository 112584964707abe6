import { c as tellService, t as tell } from './changes.mjs';
import { E as useDatabase, J as useContext } from '../nitro/nitro.mjs';
import { i as isLocalName } from './names.mjs';
import { l as listDomains, h as isServed, s as servedDomains } from './store4.mjs';
import { l as listEnvironments } from './store.mjs';
import { p as placeOf, h as hostsOf, c as customDomainsOf } from './hosts.mjs';
import { q as qualifiedName } from './qualified-name.mjs';
import { l as listServices } from './store5.mjs';

function certificatesByName() {
  const rows = useDatabase().all("SELECT * FROM certificates");
  return new Map(rows.map((row) => [row.id, row]));
}
function servingVersions() {
  const rows = useDatabase().all(
    "SELECT id, version FROM certificates WHERE version IS NOT NULL"
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}
function getCertificate(name) {
  return useDatabase().get("SELECT * FROM certificates WHERE id = ?", name);
}
function insertCertificate(name, directory) {
  const now = Date.now();
  useDatabase().run(
    "INSERT INTO certificates (id, status, directory, created_at, updated_at) VALUES (?, 'pending', ?, ?, ?)",
    name,
    directory,
    now,
    now
  );
  return getCertificate(name);
}
function setOrder(name, url) {
  useDatabase().run("UPDATE certificates SET order_url = ? WHERE id = ?", url, name);
}
function setAdvice(name, renewAt, advisedUntil) {
  useDatabase().run(
    "UPDATE certificates SET renew_at = ?, advised_until = ? WHERE id = ?",
    renewAt,
    advisedUntil,
    name
  );
}
function deleteCertificate(name) {
  useDatabase().run("DELETE FROM certificates WHERE id = ?", name);
}
function listUploaded() {
  return useDatabase().all("SELECT * FROM uploaded_certificates ORDER BY created_at DESC, id");
}
function getUploaded(id) {
  return useDatabase().get("SELECT * FROM uploaded_certificates WHERE id = ?", id);
}
function insertUploaded(row) {
  useDatabase().run(
    "INSERT INTO uploaded_certificates (id, hosts, issuer, not_before, not_after, created_at) VALUES (?, ?, ?, ?, ?, ?)",
    row.id,
    row.hosts,
    row.issuer,
    row.not_before,
    row.not_after,
    row.created_at
  );
}
function deleteUploadedRow(id) {
  useDatabase().run("DELETE FROM uploaded_certificates WHERE id = ?", id);
}

function routedHosts() {
  const { dashboardHost } = useContext().options;
  const domains = servedDomains();
  const hosts = dashboardHost === null ? [] : [{ host: dashboardHost, service: null, serviceId: null, domain: null }];
  for (const environment of listEnvironments()) {
    for (const service of listServices(environment.id)) {
      if (service.deleting) continue;
      const of = { service: qualifiedName(service.name, environment), serviceId: service.id };
      for (const domain of domains)
        for (const host of hostsOf(service, environment, [domain])) hosts.push({ host, ...of, domain });
      for (const host of customDomainsOf(service)) hosts.push({ host, ...of, domain: null });
    }
  }
  return hosts;
}
function tellCertified(hosts) {
  for (const id of new Set(hosts.map(({ serviceId }) => serviceId))) {
    if (id !== null) tellService(id);
    else tell({ kind: "domain", id: listDomains()[0].id, service_id: null, action: "updated" });
  }
}
function seeksCertificates() {
  if (useContext().options.tls === "off") return false;
  return servedDomains().some((name) => !isLocalName(name)) || routedHosts().some(({ host }) => !isLocalName(host));
}
class UploadedBook {
  #byName = /* @__PURE__ */ new Map();
  constructor(now = Date.now()) {
    for (const row of listUploaded().toReversed()) {
      if (row.not_after <= now) continue;
      for (const name of JSON.parse(row.hosts)) this.#byName.set(name, row);
    }
  }
  /** The one for a host: by its name, else by the wildcard one label above. */
  find(host) {
    return this.#byName.get(host) ?? this.#byName.get(`*${host.slice(host.indexOf("."))}`);
  }
}
class CertificateNames {
  /** The domains of places whose hosts have one wildcard together, when the server can prove that. */
  #places;
  /** Served domains whose names do not reach the server yet: the base domain is served from the start. */
  #waiting;
  constructor() {
    const domains = listDomains().filter(({ name }) => !isLocalName(name));
    const hasWildcards = useContext().options.acme.dns !== null;
    const environments = hasWildcards ? listEnvironments() : [];
    const served = domains.filter(isServed);
    this.#places = new Map(
      served.flatMap(
        ({ name }) => environments.map((environment) => [placeOf(environment, name), name])
      )
    );
    this.#waiting = new Set(served.filter(({ status }) => status === "pending").map(({ name }) => name));
  }
  /** The name of the certificate that covers a host; one with records of its own does not wait for a wildcard. */
  nameOf({ host, domain }) {
    const parent = host.slice(host.indexOf(".") + 1);
    const place = this.#places.get(parent);
    const isCovered = place !== void 0 && (domain !== null || !this.#waiting.has(place));
    return isCovered ? `*.${parent}` : host;
  }
  /**
   * The domain that a host waits for: there is no use in asking for what is named under one that does not lead here. The
   * dashboard's host and custom domains have records of their own, and are looked up themselves.
   */
  waitsFor({ domain }) {
    return domain !== null && this.#waiting.has(domain) ? domain : null;
  }
}

export { CertificateNames as C, UploadedBook as U, setAdvice as a, servingVersions as b, certificatesByName as c, deleteCertificate as d, deleteUploadedRow as e, getUploaded as f, getCertificate as g, insertUploaded as h, insertCertificate as i, seeksCertificates as j, listUploaded as l, routedHosts as r, setOrder as s, tellCertified as t };
