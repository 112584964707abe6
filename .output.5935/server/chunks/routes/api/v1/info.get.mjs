import { J as useContext } from '../../../nitro/nitro.mjs';
import { j as seeksCertificates } from '../../../_/hosts2.mjs';
import { s as servedDomains } from '../../../_/store4.mjs';
import { h as hookSecrets } from '../../../_/secrets.mjs';
import { b as publicUrl } from '../../../_/public-address.mjs';
import { c as useWorld, k as useApiAddress } from '../../../_/index.mjs';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import { z } from 'zod';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import '../../../_/changes.mjs';
import '../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../_/bare-host.mjs';
import '../../../_/store.mjs';
import '../../../_/hosts.mjs';
import '../../../_/types.mjs';
import '../../../_/qualified-name.mjs';
import '../../../_/store5.mjs';
import '../../../_/serving.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../_/input.mjs';
import '../../../_/addresses.mjs';
import 'node:os';
import '../../../_/judged.mjs';
import 'node:dns';
import '../../../_/url.mjs';
import '../../../_/version.mjs';
import '../../../_/same-repository.mjs';
import '../../../_/reading-thread.mjs';
import '../../../_/slots.mjs';
import '../../../_/worker-thread.mjs';
import 'node:worker_threads';
import '../../../_/run-each.mjs';
import 'node:stream';
import 'node:timers/promises';
import 'dockerode';
import '../../../_/answer-of.mjs';
import 'node:fs/promises';
import 'node:http2';
import 'node:child_process';
import '../../../_/synced.mjs';
import '../../../_/view.mjs';
import '../../../_/states.mjs';
import '../../../_/machine.mjs';
import '../../../_/store2.mjs';
import '../../../_/view2.mjs';
import '../../../_/store3.mjs';
import '../../../_/internal-port.mjs';
import '../../../_/states2.mjs';
import '../../../_/view3.mjs';
import '../../../_/operations2.mjs';
import '../../../_/log-files.mjs';
import '../../../_/references.mjs';
import '../../../_/rules.mjs';
import '../../../_/store6.mjs';
import '../../../_/kinds.mjs';
import '../../../_/store7.mjs';
import '../../../_/view4.mjs';
import '../../../_/operations3.mjs';
import '../../../_/operations4.mjs';
import '../../../_/claims.mjs';
import '../../../_/referrers.mjs';
import '../../../_/rules2.mjs';
import '../../../_/written.mjs';
import '../../../_/schema.mjs';
import '../../../_/cron.mjs';
import '../../../_/states3.mjs';
import '../../../_/input2.mjs';
import '../../../_/schema2.mjs';
import '../../../_/schema3.mjs';
import '../../../_/refs.mjs';
import '../../../_/schema4.mjs';
import '../../../_/query.mjs';
import '../../../_/schema5.mjs';
import '../../../_/schema6.mjs';
import '../../../_/schema7.mjs';
import '../../../_/watch-paths.mjs';
import '../../../_/operations5.mjs';
import '../../../_/operations6.mjs';
import '../../../_/view5.mjs';
import '../../../_/validate.mjs';
import '../../../_/restart.mjs';
import 'node:dns/promises';
import '../../../_/repository-file.mjs';
import '../../../_/jobs.mjs';
import '../../../_/branches.mjs';
import '../../../_/size-watch.mjs';
import '../../../_/instances.mjs';
import '../../../_/operations.mjs';
import '../../../_/limits.mjs';
import '../../../_/records.mjs';
import '../../../_/protocol.mjs';
import 'node:tls';
import '../../../_/source-tree.mjs';
import '../../../_/filter.mjs';
import 'node:stream/promises';
import 'node:zlib';
import 're2js';
import '../../../_/settled.mjs';
import '../../../_/operations7.mjs';
import 'aws4fetch';
import '../../../_/states4.mjs';
import 'tar-stream';
import '../../../_/operations8.mjs';
import 'node:stream/consumers';
import '../../../_/archives.mjs';
import '../../../_/authorize.mjs';
import '../../../_/operations9.mjs';
import '../../../_/schema8.mjs';
import '../../../_/delivery.mjs';
import '../../../_/operations10.mjs';
import '../../../_/table.mjs';
import '../../../_/latest.mjs';
import 'node:sqlite';
import '../../../_/latency-buckets.mjs';
import '../../../_/operations11.mjs';
import '../../../_/drain.mjs';
import '../../../_/client.mjs';
import '../../../_/find.mjs';
import '../../../_/greeting.mjs';
import '../../../_/ssh-key2.mjs';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';

async function serverInfo() {
  const { options, version } = useContext();
  const defaultDomain = servedDomains()[0];
  const engine = await useWorld().engine.info().catch(() => null);
  return {
    version,
    base_domain: options.baseDomain,
    default_domain: defaultDomain,
    proxy_url: publicUrl(defaultDomain),
    dashboard_url: options.dashboardHost === null ? useApiAddress() : publicUrl(options.dashboardHost),
    runtime_version: engine?.version ?? null,
    tls_enabled: seeksCertificates(),
    gitprov_webhook_enabled: hookSecrets().length > 0,
    gitprov_webhook_secret_set: options.webhookSecret !== null,
    default_memory_limit_mb: options.defaultMemoryMb,
    default_cpu_limit: options.defaultCpus,
    runtime_cpus: engine?.cpus ?? null,
    runtime_memory_bytes: engine?.memoryBytes ?? null
  };
}

const ServerInfo = z.object({
  version: z.string().meta({ examples: ["0.1.0"] }),
  base_domain: z.string().meta({ examples: ["localhost"] }),
  default_domain: z.string().meta({ examples: ["localhost"] }),
  proxy_url: z.string().meta({ description: "Where services are served", examples: ["http://localhost"] }),
  dashboard_url: z.string().meta({ examples: ["http://127.0.0.1:7878"] }),
  runtime_version: z.string().nullable().meta({ description: "Null while the engine does not answer", examples: ["28.5.1"] }),
  tls_enabled: z.boolean().meta({ examples: [false] }),
  gitprov_webhook_enabled: z.boolean().meta({ examples: [false] }),
  gitprov_webhook_secret_set: z.boolean().meta({ examples: [false] }),
  default_memory_limit_mb: z.int().meta({ examples: [512] }),
  default_cpu_limit: z.number().meta({ examples: [1] }),
  runtime_cpus: z.int().nullable().meta({ examples: [4] }),
  runtime_memory_bytes: z.int().nullable().meta({ examples: [8589934592] })
}).meta({ id: "ServerInfo" });

const endpoint79 = defineEndpoint({
  summary: "Read what the server is and runs on",
  auth: "token",
  response: ServerInfo,
  handler: () => serverInfo()
});

export { endpoint79 as default };
