import { z } from 'zod';
import { am as revokeSession, al as sessionOf, ai as clearSessionCookie } from '../../../../../nitro/nitro.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
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

const endpoint12 = defineEndpoint({
  summary: "End a session",
  description: "Ending the current session is signing out.",
  auth: "session",
  params: z.object({ id: z.string().meta({ examples: ["ses-0123456789abcdef0123"] }) }),
  errors: ["not_found"],
  handler({ event, principal, params }) {
    revokeSession(params.id);
    if (params.id === sessionOf(principal)) clearSessionCookie(event);
  }
});

export { endpoint12 as default };
