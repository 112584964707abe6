import { z } from 'zod';
import { D as DatastoreInput } from './schema.mjs';
import { D as Deploy } from './schema6.mjs';
import { R as Name } from '../nitro/nitro.mjs';
import { a as ServiceInput, w as writtenHosts, R as RepositoryAddress } from './input2.mjs';
import { P as PROPERTIES } from './references.mjs';

function loose(shape) {
  return Object.fromEntries(
    Object.entries(shape).map(([field, schema]) => {
      const inner = schema instanceof z.ZodDefault ? schema.unwrap() : schema;
      const meta = schema.meta() ?? {};
      return [field, inner.nullable().optional().meta(meta)];
    })
  );
}
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const BESIDE_OTHERS = { when: ({ value }) => typeof value === "object" && value !== null };
const VALUE_SOURCES = ["value", "from_datastore", "from_service", "generate", "sync"];
const EnvEntry = z.strictObject({
  key: z.string().meta({ examples: ["LOG_LEVEL"] }),
  value: z.string().optional().meta({
    // A number or a boolean without quotes is the text that is written.
    type: ["string", "number", "boolean"],
    description: "As it is written; `${{service.NAME.PROP}}` and `${{datastore.NAME.PROP}}` refer to others",
    examples: ["info"]
  }),
  from_datastore: z.strictObject({ name: Name, property: z.enum(PROPERTIES.datastore).optional() }).optional().meta({ description: "A property of a datastore; its url when none is named" }),
  from_service: z.strictObject({
    name: Name,
    property: z.enum(PROPERTIES.service).optional(),
    env_var: z.string().regex(VARIABLE_NAME, "must be the name of a variable").optional()
  }).refine(({ property, env_var }) => property === void 0 || env_var === void 0, {
    error: "has a property or an env_var, not both",
    ...BESIDE_OTHERS
  }).optional().meta({
    description: "A property of another service, its host and port when none is named, or its variable"
  }),
  generate: z.literal(true).optional().meta({ description: "Made at random once, then kept" }),
  sync: z.literal(false).optional().meta({ description: "Set by hand; no apply touches it" })
}).superRefine((entry, context) => {
  const given = VALUE_SOURCES.filter((source) => entry[source] !== void 0);
  if (given.length !== 1)
    context.addIssue(
      given.length === 0 ? "needs a value, from_datastore, from_service, generate: true or sync: false" : `has ${given.join(" and ")}: one of them is meant`
    );
}, BESIDE_OTHERS).meta({ id: "EnvEntry", oneOf: VALUE_SOURCES.map((source) => ({ required: [source] })) });
const { name: _, environment: _place, env: _variables, ...serviceFields } = ServiceInput.shape;
const { name: _name, kind, environment: _of, ...datastoreFields } = DatastoreInput.shape;
const serviceShape = {
  name: Name.meta({ examples: ["api"] }),
  ...loose({
    ...serviceFields,
    repo_url: RepositoryAddress,
    custom_domains: writtenHosts.custom_domains.meta(serviceFields.custom_domains.meta()),
    canonical_domain: writtenHosts.canonical_domain.meta(serviceFields.canonical_domain.meta())
  })
};
const groupName = Name.meta({ examples: ["shared"] });
z.strictObject({ ...serviceShape, env: z.unknown().optional() });
z.strictObject({ name: groupName, vars: z.unknown().optional() });
const DatastoreEntry = z.strictObject({ name: Name.meta({ examples: ["db"] }), kind, ...loose(datastoreFields) }).meta({ id: "BlueprintDatastore" });
const ServiceEntry = z.strictObject({ ...serviceShape, env: z.array(EnvEntry).nullable().optional() }).meta({ id: "BlueprintService" });
const GroupEntry = z.strictObject({ name: groupName, vars: z.array(EnvEntry).nullable().optional() }).meta({ id: "BlueprintEnvGroup" });
z.strictObject({
  environment: Name.nullable().optional(),
  env_groups: z.unknown().optional(),
  datastores: z.unknown().optional(),
  services: z.unknown().optional()
});
const Blueprint = z.strictObject({
  environment: Name.nullable().optional().meta({
    description: "Where its services and datastores are; made when it is not there",
    examples: ["staging"]
  }),
  env_groups: z.array(GroupEntry).nullable().optional().meta({ description: "Variables that services of any environment share" }),
  datastores: z.array(DatastoreEntry).nullable().optional(),
  services: z.array(ServiceEntry).nullable().optional()
}).meta({ title: "Blueprint", description: "Services, datastores and env groups of a project" });
const BLUEPRINT_RESOURCES = ["environment", "env_group", "datastore", "service"];
const BLUEPRINT_ACTIONS = ["create", "update", "unchanged"];
const BlueprintAction = z.object({
  resource: z.enum(BLUEPRINT_RESOURCES).meta({ examples: ["service"] }),
  name: z.string().meta({ examples: ["api"] }),
  action: z.enum(BLUEPRINT_ACTIONS).meta({ examples: ["update"] }),
  changes: z.array(z.string()).meta({
    description: "What differs, without values of variables",
    examples: [["port: 3000 -> 8080", "env.LOG_LEVEL: changed"]]
  })
}).meta({ id: "BlueprintAction" });
const BlueprintResult = z.object({
  actions: z.array(BlueprintAction),
  deploys: z.array(Deploy).meta({ description: "Queued by this; none of a dry run" }),
  dry_run: z.boolean().meta({ examples: [false] }),
  warnings: z.array(z.string()).meta({ examples: [[]] })
}).meta({ id: "BlueprintResult", description: "What an apply did, or what it would do" });

export { Blueprint as B, BlueprintAction as a, BlueprintResult as b };
