import { a as authorize } from '../../../../_/authorize.mjs';
import { A as Authorization, a as AuthorizeInput } from '../../../../_/schema8.mjs';
import { v as viewConnection } from '../../../../_/view10.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import 'node:crypto';
import 'node:net';
import '../../../../_/bare-host.mjs';
import '../../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:util';
import 'zod';
import '../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../_/public-address.mjs';
import '../../../../_/addresses.mjs';
import 'node:os';
import '../../../../_/serving.mjs';
import '../../../../_/store.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/store5.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../../_/input.mjs';
import '../../../../_/judged.mjs';
import 'node:dns';
import '../../../../_/url.mjs';
import '../../../../_/version.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/same-repository.mjs';
import '../../../../_/operations9.mjs';
import '../../../../_/query.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const endpoint69 = defineEndpoint({
  summary: "Begin, resume or repeat the authorization of a git connection in the browser",
  description: "The browser goes on to `url`: by a link, or, with `method` `post`, by a form with the `fields`. The provider sends it back to `redirect_uri`, whose query goes to `/git/callback`.",
  auth: "token",
  body: AuthorizeInput,
  response: Authorization,
  errors: [
    "git_application_required",
    "git_authorization_rejected",
    "git_provider_unavailable",
    "not_found",
    "conflict"
  ],
  async handler({ body }) {
    const step = await authorize(body);
    return { ...step, connection: viewConnection(step.connection) };
  }
});

export { endpoint69 as default };
