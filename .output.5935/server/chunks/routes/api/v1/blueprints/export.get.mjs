import { J as useContext } from '../../../../nitro/nitro.mjs';
import { K as KINDS } from '../../../../_/kinds.mjs';
import { R as RoleName, a as DatabaseName } from '../../../../_/states3.mjs';
import { n as viewDatastores } from '../../../../_/view4.mjs';
import { l as listEnvGroups, a as linkedServices } from '../../../../_/store3.mjs';
import { P as PRODUCTION, f as findEnvironment } from '../../../../_/store.mjs';
import { g as getService } from '../../../../_/store5.mjs';
import { e as viewServices } from '../../../../_/view.mjs';
import { a as readVariables } from '../../../../_/store6.mjs';
import { a as writtenOf, i as isAsWritten, e as isUsual, S as SERVICE_FIELDS, D as DATASTORE_FIELDS } from '../../../../_/written.mjs';
import { p as parseValue, R as ReferenceFault } from '../../../../_/references.mjs';
import { stringify } from 'yaml';
import { E as ExportQuery } from '../../../../_/requests.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { o as originOf } from '../../../../_/origin.mjs';
import { C as ConstantText } from '../../../../_/send.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'zod';
import '../../../../_/machine.mjs';
import '../../../../_/store7.mjs';
import '../../../../_/states.mjs';
import '../../../../_/store2.mjs';
import '../../../../_/view2.mjs';
import '../../../../_/internal-port.mjs';
import '../../../../_/states2.mjs';
import '../../../../_/view3.mjs';
import '../../../../_/public-address.mjs';
import '../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../_/bare-host.mjs';
import '../../../../_/store4.mjs';
import '../../../../_/hosts.mjs';
import '../../../../_/types.mjs';
import '../../../../_/schema.mjs';
import '../../../../_/cron.mjs';
import '../../../../_/input2.mjs';
import '../../../../_/schema2.mjs';
import '../../../../_/schema3.mjs';
import '../../../../_/refs.mjs';
import '../../../../_/input.mjs';
import '../../../../_/addresses.mjs';
import 'node:os';
import '../../../../_/judged.mjs';
import 'node:dns';
import '../../../../_/url.mjs';
import '../../../../_/schema4.mjs';
import '../../../../_/query.mjs';
import '../../../../_/rules.mjs';
import '../../../../_/rules2.mjs';
import '../../../../_/schema5.mjs';
import '../../../../_/schema6.mjs';
import '../../../../_/schema7.mjs';
import '../../../../_/watch-paths.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/validate.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';

const SECRET_WORD = /password|passwd|passphrase|secret|token|credential|(?:api|private|signing|encryption|access|master)key/i;
const WORD = /[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+/g;
const SECRET_END = /(?:(?<!^(?:mon|don|tur|hoc|joc|whis))keys?|(?<!^(?:by|com|encom|sur|tres|over|under))pass|pwd|dsn|auth|creds)$/i;
const URL_WITH_PASSWORD = /:\/\/[^\s/@:]{0,256}:[^\s/@]{1,1024}@/;
function looksSecret(key, value) {
  if (refersOnly(value)) return false;
  return SECRET_WORD.test(key) || hasSecretEnd(key) || URL_WITH_PASSWORD.test(value);
}
function hasSecretEnd(key) {
  return (key.match(WORD) ?? []).some((word) => SECRET_END.test(word));
}
function refersOnly(value) {
  try {
    const parts = parseValue(value);
    return parts.length > 0 && parts.every((part) => typeof part !== "string");
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error;
    return false;
  }
}

function writeNative(file, origin) {
  const text = stringify(file, { lineWidth: 0, aliasDuplicateObjects: false, version: "1.2" });
  return `# yaml-language-server: $schema=${origin}/api/blueprint.schema.json
${text}`;
}

function exportBlueprint(environment, includesSecrets, origin) {
  const groups = listEnvGroups().filter((group) => belongs(group, environment));
  const file = {
    environment: environment.name,
    env_groups: groups.map(({ id, name }) => ({ name, ...listed("vars", variablesOf(id, includesSecrets)) })),
    datastores: viewDatastores(environment).filter(({ status }) => status !== "deleting").map(datastoreEntry),
    services: viewServices(environment).filter(({ state }) => state !== "deleting").map((service) => serviceEntry(service, includesSecrets))
  };
  const present = Object.entries(file).filter(([, part]) => part.length > 0);
  return writeNative(Object.fromEntries(present), origin);
}
function belongs({ id }, environment) {
  const linked = linkedServices(id);
  return linked.length === 0 ? environment.name === PRODUCTION : linked.some(({ environment_id }) => environment_id === environment.id);
}
function datastoreEntry(datastore) {
  const { name, kind, version, database, username } = datastore;
  const owner = KINDS[kind].hasDatabases ? givenOwner(database, username) : {};
  return { name, kind, version, ...owner, ...chosen(datastore, DATASTORE_FIELDS) };
}
function givenOwner(database, username) {
  return {
    ...database !== null && DatabaseName.safeParse(database).success ? { database } : {},
    ...RoleName.safeParse(username).success ? { username } : {}
  };
}
function serviceEntry(service, includesSecrets) {
  const { id, name, type } = service;
  const { env_groups, repo_url, ...settings } = chosen(service, SERVICE_FIELDS);
  const address = includesSecrets ? addressOf(service) : repo_url;
  return {
    name,
    type,
    ...address ? { repo_url: address } : {},
    ...settings,
    ...listed("env", variablesOf(id, includesSecrets)),
    ...env_groups === void 0 ? {} : { env_groups }
  };
}
function addressOf({ id, repo_url }) {
  const sealed = getService(id)?.repo_credentials;
  return sealed ? useContext().vault.open(sealed) : repo_url;
}
function chosen(view, fields) {
  const given = fields.map((field) => [field, view[field]]);
  return Object.fromEntries(given.filter(([field, value]) => field !== "type" && !isUsual(field, value)));
}
function variablesOf(holder, includesSecrets) {
  const written = writtenOf(holder);
  return readVariables(holder).map(({ key, value }) => {
    const record = written.get(key);
    const isGenerated = record?.generated === 1 && isAsWritten(record, value);
    const isHidden = !includesSecrets && (isGenerated || looksSecret(key, value));
    return isHidden ? { key, sync: false } : { key, value };
  });
}
function listed(field, items) {
  return items.length === 0 ? {} : { [field]: items };
}

const endpoint25 = defineEndpoint({
  summary: "Export an environment as a blueprint",
  description: "Applying it changes nothing. Values that look like secrets, and generated ones, are `sync: false` unless `secrets=include`.",
  auth: "token",
  query: ExportQuery,
  response: { contentType: "application/yaml", description: "A blueprint of the native dialect" },
  handler: ({ event, query }) => {
    const text = exportBlueprint(
      findEnvironment(query.environment),
      query.secrets === "include",
      originOf(event)
    );
    return new ConstantText(text, "application/yaml; charset=utf-8").send(event);
  }
});

export { endpoint25 as default };
