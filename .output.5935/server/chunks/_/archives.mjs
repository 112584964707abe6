import { join } from 'node:path';
import { J as useContext } from '../nitro/nitro.mjs';

const UPLOAD_LIMIT_BYTES = 512 * 1024 * 1024;
function archivePath(deployId) {
  return join(useContext().options.dataDirectory, "archives", `${deployId}.tar.gz`);
}

export { UPLOAD_LIMIT_BYTES as U, archivePath as a };
