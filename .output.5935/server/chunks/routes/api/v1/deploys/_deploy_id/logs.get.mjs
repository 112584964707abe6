import { z } from 'zod';
import { f as findDeploy } from '../../../../../_/operations4.mjs';
import { a as DeployRef } from '../../../../../_/schema6.mjs';
import { a as IN_PROGRESS } from '../../../../../_/states.mjs';
import { g as getDeploy } from '../../../../../_/store2.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { s as sendEvents, e as eventStream } from '../../../../../_/event-stream.mjs';
import { l as logEvents } from '../../../../../_/log-events.mjs';
import { Q as QueryBoolean } from '../../../../../_/query.mjs';
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
import '../../../../../_/changes.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/store5.mjs';
import '../../../../../_/refs.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../../_/validate.mjs';
import '../../../../../_/head.mjs';
import 'node:fs/promises';

const endpoint49 = defineEndpoint({
  summary: "Read the build and deploy log",
  auth: "token",
  params: DeployRef,
  query: z.strictObject({ follow: QueryBoolean }),
  response: eventStream("Events `log` with a LogLine, then `end`; with `follow` when the deploy is complete"),
  async handler({ event, params, query }) {
    const { id } = findDeploy(params.deploy_id);
    const unfinished = () => {
      const deploy = getDeploy(id);
      return query.follow && deploy !== void 0 && (IN_PROGRESS.includes(deploy.status) || isOpen(id));
    };
    await sendEvents(event, async function* (signal) {
      for await (const block of readLog(id, unfinished, signal)) yield logEvents(block);
      if (getDeploy(id) !== void 0) yield { event: "end" };
    });
  }
});

export { endpoint49 as default };
