import { z } from 'zod';
import { Q as QueryBoolean } from './query.mjs';
import { M as Timestamp, U as idSchema, R as Name } from '../nitro/nitro.mjs';
import { b as EnvVar, E as EnvVars } from './schema4.mjs';

const EnvGroup = z.object({
  id: idSchema("envGroup"),
  name: z.string().meta({ examples: ["shared"] }),
  vars: z.array(EnvVar),
  services: z.array(z.string()).meta({
    description: "Names of the linked services, outside production with their environment: `api.staging`",
    examples: [["api"]]
  }),
  created_at: Timestamp,
  updated_at: Timestamp
}).meta({ id: "EnvGroup", description: "A set of variables that services of any environment share" });
const EnvGroupInput = z.strictObject({ name: Name.meta({ examples: ["shared"] }), vars: EnvVars.default([]) }).meta({
  id: "EnvGroupInput",
  examples: [{ name: "shared", vars: [{ key: "LOG_LEVEL", value: "info" }] }]
});
const Restart = QueryBoolean.describe("Restarts the live services whose environment this changed");
const EnvGroupQuery = z.strictObject({ restart: Restart });
const EnvGroupDeletion = z.strictObject({
  force: QueryBoolean.describe("Deletes it although services are linked"),
  restart: Restart
});
const EnvGroupLink = z.strictObject({
  group: z.string().min(1).meta({ description: "Id or name", examples: ["shared"] })
}).meta({ id: "EnvGroupLink" });
const EnvGroupLinkRef = z.strictObject({
  id: z.string().min(1).meta({ description: "Id or name of the service", examples: ["api"] }),
  group: z.string().min(1).meta({ description: "Id or name of the env group", examples: ["shared"] })
});

export { EnvGroup as E, EnvGroupQuery as a, EnvGroupDeletion as b, EnvGroupInput as c, EnvGroupLinkRef as d, EnvGroupLink as e };
