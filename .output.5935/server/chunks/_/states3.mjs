import { z } from 'zod';
import { d as defineMachine } from './machine.mjs';

const TEMPLATES = ["template0", "template1"];
const NO_ROLES = ["none", "public"];
const Identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/, "must be 1 to 63 of a-z, 0-9 and _, no digit first").refine((name) => !name.startsWith("pg_"), "must not start with pg_, which PostgreSQL keeps to itself");
const DatabaseName = Identifier.refine(
  (name) => !TEMPLATES.includes(name),
  "must not be a template, of which PostgreSQL makes databases"
);
const RoleName = Identifier.refine(
  (name) => !NO_ROLES.includes(name),
  "must not be none or public, which are no roles for PostgreSQL"
);
function postgresName(ours) {
  const name = ours.replaceAll("-", "_").replace(/^pg_+/, "pg");
  return [...TEMPLATES, ...NO_ROLES].includes(name) ? `${name}_db` : name;
}

const DATASTORE_STATUSES = [
  "creating",
  "available",
  "unavailable",
  "upgrading",
  "restoring",
  "failed",
  "deleting"
];
const datastoreMachine = defineMachine({
  table: "datastores",
  moves: {
    creating: ["available", "failed", "deleting"],
    available: ["unavailable", "restoring", "upgrading", "deleting"],
    unavailable: ["available", "restoring", "deleting"],
    upgrading: ["available", "unavailable", "deleting"],
    restoring: ["available", "unavailable", "failed", "deleting"],
    failed: ["creating", "deleting"],
    deleting: []
  }
});

export { DATASTORE_STATUSES as D, RoleName as R, DatabaseName as a, datastoreMachine as d, postgresName as p };
