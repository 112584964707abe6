import { q as queueSourceDeploy } from '../../../../../_/operations4.mjs';
import { D as Deploy, b as DeployInput } from '../../../../../_/schema6.mjs';
import { v as viewDeploy } from '../../../../../_/view2.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import { f as findService } from '../../../../../_/operations3.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/store5.mjs';
import '../../../../../_/states.mjs';
import '../../../../../_/store2.mjs';
import 'zod';
import '../../../../../_/refs.mjs';
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
import 'node:path';
import 'node:crypto';
import 'node:net';
import '../../../../../_/claims.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/store4.mjs';
import '../../../../../_/types.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/store3.mjs';
import '../../../../../_/url.mjs';
import '../../../../../_/operations2.mjs';
import '../../../../../_/log-files.mjs';
import 'node:fs/promises';
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
import '../../../../../_/view3.mjs';

const endpoint102 = defineEndpoint({
  summary: "Deploy the configured source",
  description: "The head of the branch or a commit, the image, or the newest uploaded archive.",
  auth: "token",
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: DeployInput,
  response: Deploy,
  errors: ["conflict"],
  handler({ params, query, body }) {
    const service = findService(params.id, query.environment);
    return viewDeploy(
      queueSourceDeploy(service, "manual", { commit: body.commit, clearCache: body.clear_cache })
    );
  }
});

export { endpoint102 as default };
