import { t as takeCallback } from '../../../../_/callback.mjs';
import { A as Authorization, C as CallbackInput } from '../../../../_/schema8.mjs';
import { v as viewConnection } from '../../../../_/view10.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import '../../../../nitro/nitro.mjs';
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
import '../../../../_/authorize.mjs';
import '../../../../_/bare-host.mjs';
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

const endpoint71 = defineEndpoint({
  summary: "Go on with an authorization, by what the provider sent the browser back with",
  description: "A `state` works once and for an hour. Without it an `installation_id` reads its connection again.",
  auth: "token",
  body: CallbackInput,
  response: Authorization,
  errors: ["git_application_required", "git_authorization_rejected", "git_provider_unavailable", "not_found"],
  async handler({ body }) {
    const step = await takeCallback(body);
    return { ...step, connection: viewConnection(step.connection) };
  }
});

export { endpoint71 as default };
