import { aa as AuthStatus, ab as SignIn, ac as signIn, ad as setSessionCookie, ae as authStatus } from '../../../../nitro/nitro.mjs';
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

const endpoint9 = defineEndpoint({
  summary: "Sign in",
  description: "Sets the session cookie. After 10 failures in 5 minutes, from whomever, no sign-in is judged for a while.",
  auth: "none",
  body: SignIn,
  response: AuthStatus,
  errors: ["invalid_credentials", "too_many_attempts"],
  async handler({ event, body }) {
    const session = await signIn(body, event.node.req.headers["user-agent"]);
    setSessionCookie(event, session.secret);
    return authStatus({ kind: "session", sessionId: session.id });
  }
});

export { endpoint9 as default };
