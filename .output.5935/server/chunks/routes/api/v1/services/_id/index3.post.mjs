import { l as linkEnvGroup } from '../../../../../_/operations6.mjs';
import { e as EnvGroupLink } from '../../../../../_/schema14.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import { f as findService } from '../../../../../_/operations3.mjs';
import { S as Service } from '../../../../../_/schema5.mjs';
import { c as viewService } from '../../../../../_/view.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/store5.mjs';
import '../../../../../_/operations2.mjs';
import '../../../../../_/store2.mjs';
import '../../../../../_/states.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/log-files.mjs';
import 'node:fs/promises';
import 'node:path';
import '../../../../../_/store3.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/internal-port.mjs';
import '../../../../../_/states2.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/rules.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/store7.mjs';
import '../../../../../_/view4.mjs';
import '../../../../../_/public-address.mjs';
import '../../../../../_/names.mjs';
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/store4.mjs';
import '../../../../../_/types.mjs';
import '../../../../../_/view5.mjs';
import 'zod';
import '../../../../../_/schema4.mjs';
import 'node:events';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../../_/validate.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:fs';
import 'node:crypto';
import '../../../../../_/operations4.mjs';
import '../../../../../_/claims.mjs';
import '../../../../../_/url.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/rules2.mjs';
import '../../../../../_/schema6.mjs';
import '../../../../../_/refs.mjs';
import '../../../../../_/schema7.mjs';
import '../../../../../_/view2.mjs';
import '../../../../../_/view3.mjs';

const endpoint109 = defineEndpoint({
  summary: "Link a service to an env group",
  description: "The group applies from the next deploy or restart and wins over those linked before. Linking twice changes nothing.",
  auth: "token",
  params: IdOrName,
  query: InEnvironment,
  body: EnvGroupLink,
  response: Service,
  errors: ["conflict"],
  handler: ({ params, query, body }) => viewService(linkEnvGroup(findService(params.id, query.environment), body.group))
});

export { endpoint109 as default };
