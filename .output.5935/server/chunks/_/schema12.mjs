import { z } from 'zod';
import { M as Timestamp, U as idSchema, R as Name } from '../nitro/nitro.mjs';
import { B as BACKUP_TRIGGERS, e as BACKUP_STATUSES } from './states4.mjs';

const Backup = z.object({
  id: idSchema("backup"),
  datastore_id: idSchema("datastore"),
  status: z.enum(BACKUP_STATUSES).meta({ examples: ["succeeded"] }),
  trigger: z.enum(BACKUP_TRIGGERS).meta({ examples: ["schedule"] }),
  size_bytes: z.int().nullable().meta({ description: "Null until its file is whole", examples: [1048576] }),
  sha256: z.string().nullable().meta({
    description: "Of the file, in hex; null until that is whole",
    examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
  }),
  error: z.string().nullable().meta({ description: "Why it has failed, or why it has no copy in the bucket", examples: [null] }),
  stored: z.array(z.enum(["local", "s3"])).meta({
    description: "Where it is: in the data directory, in the bucket of `--backup-s3-url`, or both",
    examples: [["local", "s3"]]
  }),
  created_at: Timestamp,
  finished_at: Timestamp.nullable()
}).meta({ id: "Backup", description: "A copy of what a datastore held at one moment" });
const BackupPath = z.strictObject({
  id: z.string().min(1).meta({ description: "Id or name of the datastore", examples: ["db"] }),
  backup_id: z.string().meta({ description: "Id of the backup", examples: ["bak-4f1d0c9a7b3e5d2f6a80"] })
});
const RestoreInput = z.strictObject({
  name: Name.optional().meta({
    description: "Of the new datastore; the backup takes the place of what its own holds when absent",
    examples: ["db-of-yesterday"]
  })
}).meta({ id: "RestoreInput", examples: [{ name: "db-of-yesterday" }] });

export { BackupPath as B, RestoreInput as R, Backup as a };
