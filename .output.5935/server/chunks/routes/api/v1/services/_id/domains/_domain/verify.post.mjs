import { a as checkCustomDomain } from '../../../../../../../_/host-checks.mjs';
import { H as HostCheck } from '../../../../../../../_/schema2.mjs';
import { d as defineEndpoint } from '../../../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../../../_/query.mjs';
import { f as findCustomDomain } from '../../../../../../../_/custom-domains.mjs';
import { f as findService } from '../../../../../../../_/operations3.mjs';
import { C as CustomDomainRef } from '../../../../../../../_/input2.mjs';
import '../../../../../../../_/dns.mjs';
import '../../../../../../../_/names.mjs';
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../../../../_/bare-host.mjs';
import '../../../../../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'zod';
import '../../../../../../../_/records.mjs';
import 'node:os';
import '../../../../../../../_/store4.mjs';
import '../../../../../../../_/hosts.mjs';
import '../../../../../../../_/store.mjs';
import '../../../../../../../_/types.mjs';
import '../../../../../../../_/operations.mjs';
import '../../../../../../../_/changes.mjs';
import '../../../../../../../_/machine.mjs';
import '../../../../../../../_/claims.mjs';
import '../../../../../../../_/qualified-name.mjs';
import '../../../../../../../_/limits.mjs';
import '../../../../../../../_/public-address.mjs';
import '../../../../../../../_/addresses.mjs';
import '../../../../../../../_/answer-of.mjs';
import '../../../../../../../_/protocol.mjs';
import 'node:dns/promises';
import '../../../../../../../_/schema3.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../../../_/send.mjs';
import '../../../../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../../../../_/validate.mjs';
import '../../../../../../../_/operations4.mjs';
import '../../../../../../../_/store5.mjs';
import '../../../../../../../_/states.mjs';
import '../../../../../../../_/store2.mjs';
import '../../../../../../../_/store3.mjs';
import '../../../../../../../_/url.mjs';
import '../../../../../../../_/operations2.mjs';
import '../../../../../../../_/log-files.mjs';
import 'node:fs/promises';
import '../../../../../../../_/internal-port.mjs';
import '../../../../../../../_/states2.mjs';
import '../../../../../../../_/references.mjs';
import '../../../../../../../_/rules.mjs';
import '../../../../../../../_/store6.mjs';
import '../../../../../../../_/kinds.mjs';
import '../../../../../../../_/store7.mjs';
import '../../../../../../../_/view4.mjs';
import '../../../../../../../_/referrers.mjs';
import '../../../../../../../_/rules2.mjs';
import '../../../../../../../_/view.mjs';
import '../../../../../../../_/view2.mjs';
import '../../../../../../../_/view3.mjs';
import '../../../../../../../_/refs.mjs';
import '../../../../../../../_/input.mjs';
import '../../../../../../../_/judged.mjs';
import 'node:dns';
import '../../../../../../../_/cron.mjs';
import '../../../../../../../_/schema4.mjs';
import '../../../../../../../_/schema5.mjs';
import '../../../../../../../_/schema6.mjs';
import '../../../../../../../_/schema7.mjs';
import '../../../../../../../_/watch-paths.mjs';

const endpoint105 = defineEndpoint({
  summary: "Check the DNS of a custom domain now",
  description: "Looks at what it resolves to, and whether the server answers there on its public HTTP port. One that is local has nothing to look at.",
  auth: "token",
  params: CustomDomainRef,
  query: InEnvironment,
  response: HostCheck,
  handler: ({ params, query }) => checkCustomDomain(findCustomDomain(findService(params.id, query.environment), params.domain))
});

export { endpoint105 as default };
