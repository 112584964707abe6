import { t as testDrain } from '../../../../../_/drain.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { l as leftSignal } from '../../../../../_/event-stream.mjs';
import { f as LogDrainPath, g as findDrain } from '../../../../../_/operations11.mjs';
import { h as TestResult } from '../../../../../_/table.mjs';
import 'node:timers/promises';
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
import 'zod';
import '../../../../../_/filter.mjs';
import 'node:fs/promises';
import 'node:stream/promises';
import 'node:zlib';
import '../../../../../_/log-files.mjs';
import 're2js';
import '../../../../../_/store5.mjs';
import 'node:tls';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/judged.mjs';
import 'node:dns';
import '../../../../../_/addresses.mjs';
import 'node:os';
import 'node:stream';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import '../../../../../_/validate.mjs';
import '../../../../../_/head.mjs';
import '../../../../../_/answer-of.mjs';
import '../../../../../_/version.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/operations3.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/operations4.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/states.mjs';
import '../../../../../_/store2.mjs';
import '../../../../../_/claims.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../../_/store4.mjs';
import '../../../../../_/types.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/store3.mjs';
import '../../../../../_/url.mjs';
import '../../../../../_/operations2.mjs';
import '../../../../../_/internal-port.mjs';
import '../../../../../_/states2.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/rules.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/store7.mjs';
import '../../../../../_/view4.mjs';
import '../../../../../_/public-address.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/rules2.mjs';
import '../../../../../_/view.mjs';
import '../../../../../_/view2.mjs';
import '../../../../../_/view3.mjs';

const endpoint87 = defineEndpoint({
  summary: "Send a test line",
  auth: "token",
  params: LogDrainPath,
  response: TestResult,
  async handler({ event, params }) {
    const { ok, error } = await testDrain(findDrain(params.id), leftSignal(event));
    return { ok, status: null, error };
  }
});

export { endpoint87 as default };
