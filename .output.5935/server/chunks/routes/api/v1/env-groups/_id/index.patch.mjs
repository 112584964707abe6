import { e as environmentsOf, a as changeGroupVariables } from '../../../../../_/operations6.mjs';
import { E as EnvGroup, a as EnvGroupQuery } from '../../../../../_/schema14.mjs';
import { f as findEnvGroup } from '../../../../../_/store3.mjs';
import { v as viewEnvGroup } from '../../../../../_/view5.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import { r as restartChanged } from '../../../../../_/restart.mjs';
import { a as EnvPatch } from '../../../../../_/schema4.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/operations3.mjs';
import '../../../../../_/operations4.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/store5.mjs';
import '../../../../../_/states.mjs';
import '../../../../../_/store2.mjs';
import '../../../../../_/claims.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/names.mjs';
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/store4.mjs';
import '../../../../../_/types.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/url.mjs';
import '../../../../../_/operations2.mjs';
import '../../../../../_/log-files.mjs';
import 'node:fs/promises';
import 'node:path';
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
import 'zod';
import '../../../../../_/query.mjs';
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

const endpoint57 = defineEndpoint({
  summary: "Set some of an env group's variables and remove others",
  description: "Checked alone and in the whole environment of each linked service; `restart` restarts those it changed.",
  auth: "token",
  params: IdOrName,
  query: EnvGroupQuery,
  body: EnvPatch,
  response: EnvGroup,
  errors: ["conflict"],
  handler({ params, query, body }) {
    const group = findEnvGroup(params.id);
    const change = () => changeGroupVariables(group, body.set, body.unset);
    return viewEnvGroup(restartChanged(query.restart, environmentsOf(group), change));
  }
});

export { endpoint57 as default };
