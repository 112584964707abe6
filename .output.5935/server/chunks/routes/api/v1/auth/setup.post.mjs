import { aa as AuthStatus, ap as Setup, aq as setUp, ad as setSessionCookie, ae as authStatus } from '../../../../nitro/nitro.mjs';
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

const endpoint14 = defineEndpoint({
  summary: "Create the administrator account",
  description: "Once, with the setup code that the server prints. Signs the browser in and sets the session cookie.",
  auth: "none",
  body: Setup,
  response: AuthStatus,
  errors: ["invalid_credentials", "conflict"],
  async handler({ event, body }) {
    const session = await setUp(body, event.node.req.headers["user-agent"]);
    setSessionCookie(event, session.secret);
    return authStatus({ kind: "session", sessionId: session.id });
  }
});

export { endpoint14 as default };
