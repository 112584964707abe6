import { J as useContext, I as timestamp } from '../nitro/nitro.mjs';
import { i as isLocalName } from './names.mjs';
import { U as UploadedBook, C as CertificateNames, c as certificatesByName, r as routedHosts } from './hosts2.mjs';

function viewCertificates() {
  const off = useContext().options.tls === "off";
  const uploaded = new UploadedBook();
  const names = new CertificateNames();
  const rows = certificatesByName();
  return routedHosts().map((routed) => {
    const { host } = routed;
    if (off) return without(routed, "disabled");
    const own = uploaded.find(host);
    if (own) return viewOwn(routed, own);
    if (isLocalName(host)) return without(routed, "local");
    const row = rows.get(names.nameOf(routed));
    const waitsFor = names.waitsFor(routed);
    if (row && (waitsFor === null || row.version !== null)) return viewIssued(routed, row);
    const error = waitsFor && `${waitsFor} does not lead to this server yet`;
    return { ...without(routed, "pending"), error };
  });
}
function viewUploaded(row) {
  return {
    id: row.id,
    hosts: JSON.parse(row.hosts),
    issuer: row.issuer,
    not_before: timestamp(row.not_before),
    expires_at: timestamp(row.not_after),
    created_at: timestamp(row.created_at)
  };
}
function without({ host, service }, state) {
  return {
    host,
    service,
    state,
    expires_at: null,
    error: null,
    retry_at: null,
    issuer: null,
    source: null,
    not_before: null
  };
}
function viewOwn(routed, { issuer, not_before, not_after }) {
  return {
    ...without(routed, "issued"),
    source: "uploaded",
    issuer,
    not_before: timestamp(not_before),
    expires_at: timestamp(not_after)
  };
}
function viewIssued(routed, row) {
  return {
    ...without(routed, row.status),
    error: row.error,
    retry_at: timestamp(row.retry_at),
    source: row.version === null ? null : "acme",
    issuer: row.issuer,
    not_before: timestamp(row.not_before),
    expires_at: timestamp(row.not_after)
  };
}

export { viewUploaded as a, viewCertificates as v };
