import { I as timestamp } from '../nitro/nitro.mjs';
import { h as hasBackupFile } from './states4.mjs';

function viewBackup(row) {
  const stored = [];
  if (row.status !== "failed" && hasBackupFile(row.id)) stored.push("local");
  if (row.object_url !== null) stored.push("s3");
  const { id, datastore_id, status, trigger, size_bytes, sha256, error } = row;
  return {
    id,
    datastore_id,
    status,
    trigger,
    size_bytes,
    sha256,
    error,
    stored,
    created_at: timestamp(row.created_at),
    finished_at: timestamp(row.finished_at)
  };
}

export { viewBackup as v };
