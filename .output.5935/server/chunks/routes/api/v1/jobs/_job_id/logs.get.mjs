import { z } from 'zod';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { s as sendEvents, e as eventStream } from '../../../../../_/event-stream.mjs';
import { l as logEvents } from '../../../../../_/log-events.mjs';
import { Q as QueryBoolean } from '../../../../../_/query.mjs';
import { e as findJob } from '../../../../../_/operations2.mjs';
import { a as JobRef } from '../../../../../_/schema7.mjs';
import { J as JOB_IN_PROGRESS } from '../../../../../_/states2.mjs';
import { j as jobStatus } from '../../../../../_/internal-port.mjs';
import { a as readLog, i as isOpen } from '../../../../../_/log-files.mjs';
import '../../../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../../_/validate.mjs';
import '../../../../../_/head.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/store2.mjs';
import '../../../../../_/states.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/store5.mjs';
import '../../../../../_/store3.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/rules.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/store7.mjs';
import '../../../../../_/view4.mjs';
import '../../../../../_/public-address.mjs';
import '../../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/store4.mjs';
import '../../../../../_/types.mjs';
import 'node:fs/promises';

const endpoint82 = defineEndpoint({
  summary: "Read the output of a job",
  auth: "token",
  params: JobRef,
  query: z.strictObject({ follow: QueryBoolean }),
  response: eventStream("Events `log` with a LogLine, then `end`; with `follow` when the job is complete"),
  async handler({ event, params, query }) {
    const { id } = findJob(params.job_id);
    const unfinished = () => {
      const status = jobStatus(id);
      return query.follow && status !== void 0 && (JOB_IN_PROGRESS.includes(status) || isOpen(id));
    };
    await sendEvents(event, async function* (signal) {
      for await (const block of readLog(id, unfinished, signal)) yield logEvents(block);
      if (jobStatus(id) !== void 0) yield { event: "end" };
    });
  }
});

export { endpoint82 as default };
