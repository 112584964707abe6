import { rm } from 'node:fs/promises';
import { a as archivePath, U as UPLOAD_LIMIT_BYTES } from '../../../../../../_/archives.mjs';
import { r as receiveArchive } from '../../../../../../_/archive.mjs';
import { e as assertUploadable, g as queueUpload } from '../../../../../../_/operations4.mjs';
import { D as Deploy, U as UploadQuery } from '../../../../../../_/schema6.mjs';
import { v as viewDeploy } from '../../../../../../_/view2.mjs';
import { d as defineEndpoint, b as assertLength, c as receiveStream } from '../../../../../../_/endpoint.mjs';
import { ax as IdOrName, F as newId } from '../../../../../../nitro/nitro.mjs';
import { f as findService } from '../../../../../../_/operations3.mjs';
import 'node:path';
import '../../../../../../_/slots.mjs';
import '../../../../../../_/jobs.mjs';
import 'node:child_process';
import 'node:os';
import 'node:stream';
import '../../../../../../_/changes.mjs';
import '../../../../../../_/machine.mjs';
import '../../../../../../_/store5.mjs';
import '../../../../../../_/states.mjs';
import '../../../../../../_/store2.mjs';
import 'zod';
import '../../../../../../_/refs.mjs';
import '../../../../../../_/query.mjs';
import 'node:events';
import 'node:timers/promises';
import '../../../../../../_/send.mjs';
import '../../../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../../../_/validate.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:fs';
import 'node:crypto';
import 'node:net';
import '../../../../../../_/claims.mjs';
import '../../../../../../_/store.mjs';
import '../../../../../../_/hosts.mjs';
import '../../../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../../../_/bare-host.mjs';
import '../../../../../../_/store4.mjs';
import '../../../../../../_/types.mjs';
import '../../../../../../_/qualified-name.mjs';
import '../../../../../../_/store3.mjs';
import '../../../../../../_/url.mjs';
import '../../../../../../_/operations2.mjs';
import '../../../../../../_/log-files.mjs';
import '../../../../../../_/internal-port.mjs';
import '../../../../../../_/states2.mjs';
import '../../../../../../_/references.mjs';
import '../../../../../../_/rules.mjs';
import '../../../../../../_/store6.mjs';
import '../../../../../../_/kinds.mjs';
import '../../../../../../_/store7.mjs';
import '../../../../../../_/view4.mjs';
import '../../../../../../_/public-address.mjs';
import '../../../../../../_/referrers.mjs';
import '../../../../../../_/rules2.mjs';
import '../../../../../../_/view.mjs';
import '../../../../../../_/view3.mjs';

const endpoint103 = defineEndpoint({
  summary: "Deploy an uploaded source archive",
  description: "For a service without a repository or an image. The root of the archive is the tree; one folder on top is left out.",
  auth: "token",
  status: 202,
  params: IdOrName,
  query: UploadQuery,
  body: { contentType: "application/gzip", description: "A .tar.gz of the source tree, at most 512 MiB" },
  response: Deploy,
  errors: ["conflict", "payload_too_large"],
  async handler({ event, params, query }) {
    assertLength(event, UPLOAD_LIMIT_BYTES);
    const service = findService(params.id, query.environment);
    assertUploadable(service);
    const id = newId("deploy");
    const body = receiveStream(event, UPLOAD_LIMIT_BYTES);
    await receiveArchive(body, archivePath(id), UPLOAD_LIMIT_BYTES).finally(() => body.destroy());
    try {
      return viewDeploy(queueUpload(findService(service.id), id, query.clear_cache));
    } catch (error) {
      await rm(archivePath(id), { force: true });
      throw error;
    }
  }
});

export { endpoint103 as default };
