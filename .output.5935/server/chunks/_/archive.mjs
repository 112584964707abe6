import { rename, rm } from 'node:fs/promises';
import { U as UPLOAD_LIMIT_BYTES } from './archives.mjs';
import { A as AppError } from '../nitro/nitro.mjs';
import { S as Slots } from './slots.mjs';
import { w as withReader, K as KEEP_ARCHIVE, B as BuildFailure } from './jobs.mjs';

const MAX_RECEIVED_AT_ONCE = 8;
const slots = new Slots(MAX_RECEIVED_AT_ONCE);
async function receiveArchive(stream, path, limitBytes = UPLOAD_LIMIT_BYTES) {
  const partial = `${path}.partial`;
  const ignore = () => {
  };
  stream.on("error", ignore);
  try {
    await slots.run(
      () => withReader(
        void 0,
        (reader) => reader.feed(KEEP_ARCHIVE, { path: partial }, stream, counted(limitBytes))
      )
    );
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw explain(error, stream);
  } finally {
    stream.off("error", ignore);
  }
}
function counted(limitBytes) {
  let received = 0;
  return ({ length }) => {
    received += length;
    if (received <= limitBytes) return;
    throw new AppError(
      "payload_too_large",
      `The archive has more than ${limitBytes} bytes; leave out what the build does not need`
    );
  };
}
function explain(error, stream) {
  if (error instanceof AppError) return error;
  if (error instanceof BuildFailure) return new AppError("invalid_request", error.message, { cause: error });
  if (stream.errored === null && (stream.readableEnded || !stream.destroyed)) return error;
  return new AppError("invalid_request", "The upload broke off before its end; send the archive again", {
    cause: error
  });
}

export { receiveArchive as r };
