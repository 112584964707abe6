import { z } from 'zod';
import { D as Deploy } from './schema6.mjs';
import { M as Timestamp, U as idSchema } from '../nitro/nitro.mjs';
import { J as Job } from './schema7.mjs';
import { S as SERVICE_TYPES } from './types.mjs';

const RUNTIMES = [
  "auto",
  "docker",
  "image",
  "static",
  "node",
  "bun",
  "deno",
  "python",
  "go",
  "ruby",
  "rust",
  "php",
  "java",
  "elixir",
  "scala",
  "clojure",
  "dotnet",
  "gleam",
  "cpp",
  "shell"
];
const SERVICE_STATES = [
  "not_deployed",
  "deploying",
  "running",
  "degraded",
  "down",
  "suspended",
  "idle",
  "failed",
  "deleting"
];
const optional = (example) => z.string().nullable().meta({ examples: [example] });
const Service = z.object({
  id: idSchema("service"),
  name: z.string().meta({ examples: ["api"] }),
  environment: z.string().meta({ description: "Name of the environment", examples: ["production"] }),
  type: z.enum(SERVICE_TYPES).meta({ examples: ["web_service"] }),
  runtime: z.enum(RUNTIMES).meta({ examples: ["auto"] }),
  repo_url: optional("https://git.example.com/team/api.git").meta({
    description: "Credentials are shown as ***"
  }),
  branch: optional("main"),
  root_dir: optional(null),
  dockerfile_path: optional(null),
  image: optional(null),
  build_command: optional(null),
  start_command: optional(null),
  publish_dir: optional(null),
  pre_deploy_command: optional(null),
  health_check_path: optional("/healthz"),
  port: z.int().nullable().meta({ examples: [null] }),
  schedule: optional(null),
  disk_mount_path: optional(null),
  instances: z.int().meta({ examples: [1] }),
  memory_limit_mb: z.int().meta({ description: "MiB as asked for; 0 is the server default", examples: [0] }),
  cpu_limit: z.number().meta({ description: "CPUs as asked for; 0 is the server default", examples: [0] }),
  apt_packages: z.array(z.string()).meta({ description: "Debian packages for build and program", examples: [["ffmpeg"]] }),
  auto_deploy: z.boolean().meta({ examples: [true] }),
  suspended: z.boolean().meta({ examples: [false] }),
  custom_domains: z.array(z.string()).meta({ examples: [[]] }),
  watch_paths: z.array(z.string()).nullable().meta({ description: "What a push has to touch to deploy it; null is anything", examples: [null] }),
  canonical_domain: optional(null).meta({
    description: "The custom domain to which requests to the others are redirected"
  }),
  compression: z.boolean().meta({ description: "Its answers are compressed for who takes that", examples: [false] }),
  deploy_hook_key: z.string().meta({ examples: ["5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e"] }),
  live_deploy_id: idSchema("deploy").nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  settings_updated_at: Timestamp.meta({
    description: "When something was last saved that containers get with a deploy or restart"
  }),
  deploy_hook_path: z.string().meta({
    examples: ["/hooks/deploy/srv-4f1d0c9a7b3e5d2f6a80?key=5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e"]
  }),
  env_groups: z.array(z.string()).meta({
    description: "Names of the linked env groups, in the order of the links",
    examples: [["shared"]]
  }),
  hosts: z.array(z.string()).meta({ description: "All that it is served at", examples: [["api.localhost"]] }),
  internal_host: z.string().nullable().meta({ examples: ["api"] }),
  internal_port: z.int().nullable().meta({ examples: [1e4] }),
  latest_deploy: Deploy.nullable(),
  last_run: Job.nullable().meta({ description: "The newest run of a cron job that has ended" }),
  state: z.enum(SERVICE_STATES).meta({ examples: ["running"] }),
  url: optional("http://api.localhost")
}).meta({ id: "Service", description: "An application that the server builds and runs" });
const CustomDomains = z.array(z.string()).meta({ examples: [["www.example.org"]] });
const INSTANCE_STATES = ["starting", "running", "failing", "draining", "exited"];
const ServiceStatus = z.object({
  state: z.enum(SERVICE_STATES).meta({ examples: ["running"] }),
  live_deploy_id: idSchema("deploy").nullable(),
  instances: z.array(
    z.object({
      name: z.string().meta({ examples: ["srv-4f1d0c9a7b3e5d2f6a80-1a2b3"] }),
      state: z.enum(INSTANCE_STATES).meta({ examples: ["running"] }),
      health: z.enum(["healthy", "unhealthy", "unknown"]).meta({ examples: ["healthy"] }),
      started_at: Timestamp.nullable(),
      restarts: z.int().meta({ examples: [0] }),
      exit_code: z.int().nullable().meta({ description: "Of the last exit", examples: [null] }),
      reason: z.string().nullable().meta({
        description: "Why it is not healthy, what its start waits for, or why it last ended",
        examples: [null]
      }),
      cpu_percent: z.number().nullable().meta({ description: "100 is one core", examples: [1.5] }),
      memory_bytes: z.int().nullable().meta({ examples: [52428800] })
    })
  )
}).meta({ id: "ServiceStatus" });

export { CustomDomains as C, RUNTIMES as R, Service as S, ServiceStatus as a };
