import { z } from 'zod';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { s as sendEvents, e as eventStream } from '../../../../_/event-stream.mjs';
import { Q as QueryBoolean, L as LogTail } from '../../../../_/query.mjs';
import { y as LOG_LEVELS, aB as followLog, aC as recentLog, aD as rank } from '../../../../nitro/nitro.mjs';
import 'node:events';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../_/validate.mjs';
import '../../../../_/head.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:net';

const ALL_LINES = 2e3;
const endpoint97 = defineEndpoint({
  summary: "Read the server's own log",
  auth: "token",
  query: z.strictObject({
    follow: QueryBoolean,
    tail: LogTail(ALL_LINES),
    level: z.enum(LOG_LEVELS).default("debug").meta({ examples: ["info"] })
  }),
  response: eventStream(
    "Events `log` with {ts, level, target, message, fields}, `skipped` with {count}, and `end` unless it follows"
  ),
  handler: ({ event, query }) => sendEvents(event, async function* (signal) {
    const followed = query.follow ? followLog(signal) : null;
    for (const entry of recentLog(query.level, query.tail)) yield { event: "log", data: entry };
    if (!followed) {
      yield { event: "end" };
      return;
    }
    for await (const entry of followed) {
      const count = followed.takeDropped();
      if (count > 0) yield { event: "skipped", data: { count } };
      if (rank(entry.level) >= rank(query.level)) yield { event: "log", data: entry };
    }
  })
});

export { endpoint97 as default };
