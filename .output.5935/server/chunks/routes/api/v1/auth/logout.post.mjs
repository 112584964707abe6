import { af as cookieSession, ag as assertOwnOrigin, ah as endSession, ai as clearSessionCookie } from '../../../../nitro/nitro.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
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

const endpoint10 = defineEndpoint({
  summary: "Sign out",
  description: "Ends the cookie's session and clears the cookie; succeeds without a session.",
  auth: "none",
  errors: ["cross_site_request"],
  handler({ event }) {
    const session = cookieSession(event);
    if (session) {
      assertOwnOrigin(event);
      endSession(session.id);
    }
    clearSessionCookie(event);
  }
});

export { endpoint10 as default };
