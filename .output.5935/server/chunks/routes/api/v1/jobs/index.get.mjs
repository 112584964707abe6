import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { e as findJob } from '../../../../_/operations2.mjs';
import { J as Job, a as JobRef } from '../../../../_/schema7.mjs';
import { v as viewJob } from '../../../../_/view3.mjs';
import '../../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'zod';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/store2.mjs';
import '../../../../_/states.mjs';
import '../../../../_/machine.mjs';
import '../../../../_/log-files.mjs';
import 'node:fs/promises';
import '../../../../_/store5.mjs';
import '../../../../_/store3.mjs';
import '../../../../_/store.mjs';
import '../../../../_/internal-port.mjs';
import '../../../../_/states2.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/references.mjs';
import '../../../../_/rules.mjs';
import '../../../../_/store6.mjs';
import '../../../../_/kinds.mjs';
import '../../../../_/store7.mjs';
import '../../../../_/view4.mjs';
import '../../../../_/public-address.mjs';
import '../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../_/bare-host.mjs';
import '../../../../_/hosts.mjs';
import '../../../../_/store4.mjs';
import '../../../../_/types.mjs';

const endpoint81 = defineEndpoint({
  summary: "Read a job",
  auth: "token",
  params: JobRef,
  response: Job,
  handler: ({ params }) => viewJob(findJob(params.job_id))
});

export { endpoint81 as default };
