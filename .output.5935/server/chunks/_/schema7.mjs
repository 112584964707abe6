import { z } from 'zod';
import { M as Timestamp, U as idSchema } from '../nitro/nitro.mjs';
import { b as JOB_STATUSES } from './states2.mjs';

const JOB_TRIGGERS = ["schedule", "manual"];
const MAX_COMMAND_CHARACTERS = 16 * 1024;
const Job = z.object({
  id: idSchema("job"),
  service_id: idSchema("service"),
  status: z.enum(JOB_STATUSES).meta({ examples: ["succeeded"] }),
  trigger: z.enum(JOB_TRIGGERS).meta({ examples: ["schedule"] }),
  command: z.string().nullable().meta({ description: "Null is the image's own", examples: ["npm run report"] }),
  image: z.string().nullable().meta({ description: "What it runs in: an image reference", examples: ["registry.example.com/api:2"] }),
  exit_code: z.int().nullable().meta({ description: "Null when the program did not run to its end", examples: [0] }),
  error: z.string().nullable().meta({ description: "Why it did not succeed", examples: [null] }),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable()
}).meta({ id: "Job", description: "One run of a cron job or of a one-off command" });
const JobRef = z.strictObject({
  job_id: z.string().meta({ description: "Id of the job", examples: ["job-4f1d0c9a7b3e5d2f6a80"] })
});
const JobInput = z.strictObject({
  command: z.string().max(MAX_COMMAND_CHARACTERS).refine((text) => text.trim() !== "", "must not be empty: leave it out for the command of a cron job").refine((text) => !text.includes("\0"), "must not contain NUL").optional().meta({
    description: "Runs with `sh -c`; a cron job runs its own command without it",
    examples: ["npm run report"],
    minLength: 1
  })
}).meta({ id: "JobInput" });

export { Job as J, JobRef as a, JobInput as b };
