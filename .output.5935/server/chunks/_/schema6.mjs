import { z } from 'zod';
import { d as commitFault } from './refs.mjs';
import { I as InEnvironment, Q as QueryBoolean } from './query.mjs';
import { M as Timestamp, U as idSchema, Z as judged } from '../nitro/nitro.mjs';
import { D as DEPLOY_STATUSES } from './states.mjs';

const DEPLOY_TRIGGERS = [
  "create",
  "manual",
  "restart",
  "rollback",
  "upload",
  "deploy_hook",
  "webhook",
  "blueprint"
];
const DeploySource = z.object({
  kind: z.enum(["git", "image", "archive"]).meta({ examples: ["git"] }),
  repo_url: z.string().nullable().meta({ examples: ["https://git.example.com/team/api.git"] }),
  branch: z.string().nullable().meta({ examples: ["main"] }),
  commit: z.string().nullable().meta({ description: "The commit that was asked for", examples: [null] })
}).meta({ id: "DeploySource" });
const Deploy = z.object({
  id: idSchema("deploy"),
  service_id: idSchema("service"),
  status: z.enum(DEPLOY_STATUSES).meta({ examples: ["live"] }),
  trigger: z.enum(DEPLOY_TRIGGERS).meta({ examples: ["manual"] }),
  source: DeploySource,
  commit_sha: z.string().nullable().meta({ examples: ["9fceb02d0ae598e95dc970b74767f19372d61af8"] }),
  commit_message: z.string().nullable().meta({ examples: ["Answer in JSON"] }),
  commit_author: z.string().nullable().meta({ description: "Name of who wrote the commit", examples: ["Ada Lovelace"] }),
  image: z.string().nullable().meta({ description: "What runs: an image reference", examples: ["registry.example.com/api:2"] }),
  port: z.int().nullable().meta({ examples: [1e4] }),
  error: z.string().nullable().meta({ description: "Why it did not go live", examples: [null] }),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable()
}).meta({ id: "Deploy", description: "One attempt to put a version of a service live" });
const DeployRef = z.strictObject({
  deploy_id: z.string().meta({ description: "Id of the deploy", examples: ["dep-4f1d0c9a7b3e5d2f6a80"] })
});
const Commit = judged(commitFault).meta({ minLength: 1, examples: ["9fceb02"] });
const DeployInput = z.strictObject({
  commit: Commit.optional().meta({
    description: "Commit or ref to deploy instead of the branch head; any that the remote has",
    examples: ["9fceb02"]
  }),
  clear_cache: z.boolean().default(false).meta({ description: "Build without cache", examples: [false] })
}).meta({ id: "DeployInput" });
const UploadQuery = z.strictObject({ clear_cache: QueryBoolean, ...InEnvironment.shape });
const RollbackInput = z.strictObject({
  deploy_id: z.string().meta({
    description: "An earlier deploy of this service that was live",
    examples: ["dep-4f1d0c9a7b3e5d2f6a80"]
  })
}).meta({ id: "RollbackInput" });

export { Deploy as D, RollbackInput as R, UploadQuery as U, DeployRef as a, DeployInput as b };
