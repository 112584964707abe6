import { a as DatastorePatch } from './schema.mjs';
import { S as ServicePatch, a as ServiceInput } from './input2.mjs';
import { J as useContext, E as useDatabase } from '../nitro/nitro.mjs';
import { r as readName } from './names.mjs';
import { s as splitCredentials } from './url.mjs';
import { s as shownUrl } from './view.mjs';

const DEFAULTS = {
  runtime: "auto",
  instances: 1,
  auto_deploy: true,
  memory_limit_mb: 0,
  cpu_limit: 0,
  backup_retention: 7
};
function withDefaults(fields) {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, value === null ? defaultOf(field) : value])
  );
}
function isUsual(field, value) {
  return value === void 0 || JSON.stringify(value) === JSON.stringify(defaultOf(field));
}
const KNOWN_DEFAULTS = new Map([
  ...Object.entries(ServicePatch.shape).map(([field, schema]) => [
    field,
    [null, [], false].find((value) => schema.safeParse(value).success) ?? null
  ]),
  ...Object.entries(DEFAULTS)
]);
function defaultOf(field) {
  return KNOWN_DEFAULTS.get(field) ?? null;
}
function wantedPatch(fields, there) {
  const { repo_url, ...patch } = withDefaults(fields);
  if (repo_url === void 0 || there && typeof repo_url === "string" && isSameRepository(repo_url, there))
    return patch;
  return { ...patch, repo_url };
}
function wantedColumns(wanted, there) {
  const { custom_domains, canonical_domain, ...settings } = withDefaults(wanted.fields);
  const made = there ? {} : { runtime: "auto", instances: 1, custom_domains: "[]" };
  return {
    ...made,
    ...settings,
    ...custom_domains === void 0 ? {} : { custom_domains: JSON.stringify(custom_domains.map(normalOrSame)) },
    ...canonical_domain === void 0 ? {} : { canonical_domain: typeof canonical_domain === "string" ? normalOrSame(canonical_domain) : null }
  };
}
function normalOrSame(text) {
  const read = readName(text);
  return "name" in read ? read.name : text;
}
function isSameRepository(url, { repo_url, repo_credentials }) {
  if (repo_url === null) return false;
  if (repo_credentials === null) {
    const { url: bare, username, password } = splitCredentials(url);
    return bare === repo_url && username === null && password === null;
  }
  return url === shownUrl(repo_url, true) || url === useContext().vault.open(repo_credentials);
}

const MAX_SHOWN_CHARACTERS = 120;
const LEAD_CHARACTERS = 20;
const {
  env: _,
  deploy: _deploy,
  name: _name,
  environment: _environment,
  ...serviceFields
} = ServiceInput.shape;
const SERVICE_FIELDS = Object.keys(serviceFields);
const DATASTORE_FIELDS = Object.keys(DatastorePatch.shape);
const FIXED_DATASTORE_FIELDS = ["version", "database", "username"];
function changeBetween(before, after, fields, variables) {
  const changed = variables?.written.map(
    ({ wanted, isNew }) => `env.${wanted.key}: ${isNew ? "added" : "changed"}`
  );
  const told = fields.flatMap((field) => {
    const isSame = before ? JSON.stringify(before[field]) === JSON.stringify(after[field]) : isUsual(field, after[field]);
    if (isSame) return [];
    const [then, now] = [shown(before?.[field]), shown(after[field])];
    const from = differenceOf(then, now) - LEAD_CHARACTERS;
    return [`${field}: ${cut(then, from)} -> ${cut(now, from)}`];
  });
  const changes = [...told, ...changed ?? []];
  if (before === void 0) return { action: "create", changes };
  return { action: changes.length > 0 ? "update" : "unchanged", changes };
}
function shown(value) {
  if (value === null || value === void 0) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  return typeof value === "string" && !/[\n\r\t]/.test(value) ? value : JSON.stringify(value);
}
function differenceOf(left, right) {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return at;
}
function cut(text, from) {
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  const start = Math.max(0, Math.min(from, text.length - MAX_SHOWN_CHARACTERS));
  const end = start + MAX_SHOWN_CHARACTERS;
  return `${start > 0 ? "\u2026" : ""}${text.slice(start, end)}${end < text.length ? "\u2026" : ""}`;
}

function writtenOf(holder) {
  const rows = useDatabase().all(
    "SELECT key, fingerprint, generated FROM blueprint_variables WHERE holder = ?",
    holder
  );
  return new Map(rows.map(({ key, ...written }) => [key, written]));
}
function recordWritten(holder, key, value, generated) {
  useDatabase().run(
    `INSERT INTO blueprint_variables (holder, key, fingerprint, generated) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (holder, key) DO UPDATE SET fingerprint = ?3, generated = ?4`,
    holder,
    key,
    fingerprintOf(value),
    generated ? 1 : 0
  );
}
function isAsWritten(written, value) {
  return written?.fingerprint === fingerprintOf(value);
}
function fingerprintOf(value) {
  return useContext().vault.fingerprint(`variable ${value}`);
}

export { DATASTORE_FIELDS as D, FIXED_DATASTORE_FIELDS as F, SERVICE_FIELDS as S, writtenOf as a, withDefaults as b, wantedPatch as c, changeBetween as d, isUsual as e, isAsWritten as i, recordWritten as r, wantedColumns as w };
