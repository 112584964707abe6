import { z } from 'zod';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import { b as Notification } from '../../../_/schema15.mjs';
import { n as notifications } from '../../../_/operations10.mjs';
import { a as viewNotification } from '../../../_/view11.mjs';
import '../../../nitro/nitro.mjs';
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
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';
import '../../../_/table.mjs';
import '../../../_/answer-of.mjs';
import '../../../_/bare-host.mjs';
import '../../../_/judged.mjs';
import 'node:dns';
import '../../../_/addresses.mjs';
import 'node:os';
import '../../../_/version.mjs';
import '../../../_/store.mjs';
import '../../../_/operations3.mjs';
import '../../../_/changes.mjs';
import '../../../_/operations4.mjs';
import '../../../_/machine.mjs';
import '../../../_/store5.mjs';
import '../../../_/states.mjs';
import '../../../_/store2.mjs';
import '../../../_/claims.mjs';
import '../../../_/hosts.mjs';
import '../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../_/store4.mjs';
import '../../../_/types.mjs';
import '../../../_/qualified-name.mjs';
import '../../../_/store3.mjs';
import '../../../_/url.mjs';
import '../../../_/operations2.mjs';
import '../../../_/log-files.mjs';
import 'node:fs/promises';
import '../../../_/internal-port.mjs';
import '../../../_/states2.mjs';
import '../../../_/references.mjs';
import '../../../_/rules.mjs';
import '../../../_/store6.mjs';
import '../../../_/kinds.mjs';
import '../../../_/store7.mjs';
import '../../../_/view4.mjs';
import '../../../_/public-address.mjs';
import '../../../_/referrers.mjs';
import '../../../_/rules2.mjs';
import '../../../_/view.mjs';
import '../../../_/view2.mjs';
import '../../../_/view3.mjs';

const endpoint95 = defineEndpoint({
  summary: "List notifications",
  auth: "token",
  response: z.array(Notification),
  handler: () => notifications.list().map(viewNotification)
});

export { endpoint95 as default };
