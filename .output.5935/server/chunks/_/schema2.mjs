import { z } from 'zod';
import { D as DnsRecord } from './schema3.mjs';
import { M as Timestamp, U as idSchema } from '../nitro/nitro.mjs';
import { M as MAX_NAME_CHARACTERS, r as readName } from './names.mjs';
import { d as defineMachine } from './machine.mjs';

const DOMAIN_STATUSES = ["pending", "active", "failed"];
const domainMachine = defineMachine({
  table: "domains",
  moves: {
    pending: ["active"],
    active: ["failed"],
    failed: ["active"]
  }
});

const DomainCheck = z.object({
  kind: z.enum(["dns", "http"]).meta({
    description: "`dns`: what a made-up name under the domain resolves to; `http`: whether this server answers there"
  }),
  outcome: z.enum(["passed", "failed", "skipped"]),
  message: z.string().meta({ examples: ["it resolves to 203.0.113.7, which is this server"] })
}).meta({ id: "DomainCheck" });
const HostCheck = z.object({
  name: z.string().meta({ description: "The host, or the wildcard of many", examples: ["*.staging.example.com"] }),
  leads_here: z.boolean().meta({ examples: [true] }),
  records: z.array(DnsRecord).meta({ description: "What DNS needs; empty while the server's public address is not known" }),
  checks: z.array(DomainCheck).meta({ description: "What was found just now" })
}).meta({ id: "HostCheck", description: "What DNS needs for a name, and where the name leads" });
const Domain = z.object({
  id: idSchema("domain"),
  name: z.string().meta({ examples: ["example.com"] }),
  source: z.enum(["config", "api"]).meta({
    description: "`config` is the base domain, which is set when the server starts",
    examples: ["api"]
  }),
  status: z.enum(DOMAIN_STATUSES).meta({
    description: "`failed`: it was active, but its names no longer reach the server; it is still served",
    examples: ["pending"]
  }),
  is_default: z.boolean().meta({ description: "Services are shown and linked under it", examples: [false] }),
  local: z.boolean().meta({ description: "A name that needs no DNS and no certificate", examples: [false] }),
  served: z.boolean().meta({ examples: [false] }),
  url_pattern: z.string().meta({ examples: ["https://<service>.example.com"] }),
  records: z.array(DnsRecord).meta({ description: "What DNS needs" }),
  checks: z.array(DomainCheck).meta({ description: "What was found when it was checked last" }),
  created_at: Timestamp,
  checked_at: Timestamp.nullable(),
  verified_at: Timestamp.nullable().meta({ description: "When its names first reached the server" })
}).meta({ id: "Domain", description: "A name under which services are served, each by one label" });
const DomainName = z.string().meta({ minLength: 1, maxLength: MAX_NAME_CHARACTERS + 1 }).transform((text, context) => {
  const read = readName(text);
  if ("name" in read) return read.name;
  context.issues.push({ code: "custom", input: text, message: read.fault });
  return z.NEVER;
});
const DomainInput = z.strictObject({ name: DomainName.meta({ examples: ["example.com"] }) }).meta({ id: "DomainInput", examples: [{ name: "example.com" }] });
const DomainPatch = z.strictObject({
  is_default: z.boolean().optional().meta({ examples: [true] })
}).meta({ id: "DomainPatch", examples: [{ is_default: true }] });

export { DomainName as D, HostCheck as H, Domain as a, DomainPatch as b, DomainInput as c, domainMachine as d };
