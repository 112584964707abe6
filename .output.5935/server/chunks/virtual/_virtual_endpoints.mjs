import endpoint0 from '../routes/api/blueprint.schema.json.get.mjs';
import endpoint1 from '../routes/api/docs/_file_.get.mjs';
import endpoint2 from '../routes/api/index.get.mjs';
import endpoint3 from '../routes/api/openapi.json.get.mjs';
import endpoint4 from '../routes/api/v1/auth/cli/_id/approve.post.mjs';
import endpoint5 from '../routes/api/v1/auth/cli/_id/deny.post.mjs';
import endpoint6 from '../routes/api/v1/auth/cli/index.get.mjs';
import endpoint7 from '../routes/api/v1/auth/cli/_id/token.post.mjs';
import endpoint8 from '../routes/api/v1/auth/index.post.mjs';
import endpoint9 from '../routes/api/v1/auth/login.post.mjs';
import endpoint10 from '../routes/api/v1/auth/logout.post.mjs';
import endpoint11 from '../routes/api/v1/auth/password.post.mjs';
import endpoint12 from '../routes/api/v1/auth/sessions/_id_.delete.mjs';
import endpoint13 from '../routes/api/v1/auth/index.get.mjs';
import endpoint14 from '../routes/api/v1/auth/setup.post.mjs';
import endpoint15 from '../routes/api/v1/auth/status.get.mjs';
import endpoint16 from '../routes/api/v1/auth/tokens/_id_.delete.mjs';
import endpoint17 from '../routes/api/v1/auth/index2.get.mjs';
import endpoint18 from '../routes/api/v1/auth/index2.post.mjs';
import endpoint19 from '../routes/api/v1/blueprints/index.delete.mjs';
import endpoint20 from '../routes/api/v1/blueprints/index.get.mjs';
import endpoint21 from '../routes/api/v1/blueprints/index.patch.mjs';
import endpoint22 from '../routes/api/v1/blueprints/_id/sync.post.mjs';
import endpoint23 from '../routes/api/v1/blueprints/apply.post.mjs';
import endpoint24 from '../routes/api/v1/blueprints/convert.post.mjs';
import endpoint25 from '../routes/api/v1/blueprints/export.get.mjs';
import endpoint26 from '../routes/api/v1/blueprints/file.get.mjs';
import endpoint27 from '../routes/api/v1/index.get.mjs';
import endpoint28 from '../routes/api/v1/index.post.mjs';
import endpoint29 from '../routes/api/v1/index2.get.mjs';
import endpoint30 from '../routes/api/v1/certificates/uploaded/_id_.delete.mjs';
import endpoint31 from '../routes/api/v1/certificates/index.get.mjs';
import endpoint32 from '../routes/api/v1/certificates/index.post.mjs';
import endpoint33 from '../routes/api/v1/datastores/_id/backups/_backup_id/download.get.mjs';
import endpoint34 from '../routes/api/v1/datastores/_id/backups/index.delete.mjs';
import endpoint35 from '../routes/api/v1/datastores/_id/backups/index.get.mjs';
import endpoint36 from '../routes/api/v1/datastores/_id/backups/_backup_id/restore.post.mjs';
import endpoint37 from '../routes/api/v1/datastores/_id/index.get.mjs';
import endpoint38 from '../routes/api/v1/datastores/_id/index.post.mjs';
import endpoint39 from '../routes/api/v1/datastores/index.delete.mjs';
import endpoint40 from '../routes/api/v1/datastores/index.get.mjs';
import endpoint41 from '../routes/api/v1/datastores/index.patch.mjs';
import endpoint42 from '../routes/api/v1/datastores/_id/logs.get.mjs';
import endpoint43 from '../routes/api/v1/datastores/_id/references.get.mjs';
import endpoint44 from '../routes/api/v1/datastores/_id/upgrade.post.mjs';
import endpoint45 from '../routes/api/v1/index3.get.mjs';
import endpoint46 from '../routes/api/v1/index2.post.mjs';
import endpoint47 from '../routes/api/v1/deploys/_deploy_id/cancel.post.mjs';
import endpoint48 from '../routes/api/v1/deploys/index.get.mjs';
import endpoint49 from '../routes/api/v1/deploys/_deploy_id/logs.get.mjs';
import endpoint50 from '../routes/api/v1/detect.post.mjs';
import endpoint51 from '../routes/api/v1/domains/index.delete.mjs';
import endpoint52 from '../routes/api/v1/domains/index.get.mjs';
import endpoint53 from '../routes/api/v1/domains/index.patch.mjs';
import endpoint54 from '../routes/api/v1/domains/_id/verify.post.mjs';
import endpoint55 from '../routes/api/v1/index4.get.mjs';
import endpoint56 from '../routes/api/v1/index3.post.mjs';
import endpoint57 from '../routes/api/v1/env-groups/_id/index.patch.mjs';
import endpoint58 from '../routes/api/v1/env-groups/_id/index.put.mjs';
import endpoint59 from '../routes/api/v1/env-groups/index.delete.mjs';
import endpoint60 from '../routes/api/v1/env-groups/index.get.mjs';
import endpoint61 from '../routes/api/v1/index5.get.mjs';
import endpoint62 from '../routes/api/v1/index4.post.mjs';
import endpoint63 from '../routes/api/v1/environments/index.delete.mjs';
import endpoint64 from '../routes/api/v1/environments/index.get.mjs';
import endpoint65 from '../routes/api/v1/environments/_id/verify.post.mjs';
import endpoint66 from '../routes/api/v1/index6.get.mjs';
import endpoint67 from '../routes/api/v1/index5.post.mjs';
import endpoint68 from '../routes/api/v1/events.get.mjs';
import endpoint69 from '../routes/api/v1/git/authorize.post.mjs';
import endpoint70 from '../routes/api/v1/git/branches.get.mjs';
import endpoint71 from '../routes/api/v1/git/callback.post.mjs';
import endpoint72 from '../routes/api/v1/git/connections/index.delete.mjs';
import endpoint73 from '../routes/api/v1/git/connections/index.get.mjs';
import endpoint74 from '../routes/api/v1/git/connections/_id/repositories.get.mjs';
import endpoint75 from '../routes/api/v1/git/index.get.mjs';
import endpoint76 from '../routes/api/v1/git/index.post.mjs';
import endpoint77 from '../routes/api/v1/git/deliveries.get.mjs';
import endpoint78 from '../routes/api/v1/git/ssh-key.get.mjs';
import endpoint79 from '../routes/api/v1/info.get.mjs';
import endpoint80 from '../routes/api/v1/jobs/_job_id/cancel.post.mjs';
import endpoint81 from '../routes/api/v1/jobs/index.get.mjs';
import endpoint82 from '../routes/api/v1/jobs/_job_id/logs.get.mjs';
import endpoint83 from '../routes/api/v1/log-drains/_id/deliveries.get.mjs';
import endpoint84 from '../routes/api/v1/log-drains/index.delete.mjs';
import endpoint85 from '../routes/api/v1/log-drains/index.get.mjs';
import endpoint86 from '../routes/api/v1/log-drains/index.patch.mjs';
import endpoint87 from '../routes/api/v1/log-drains/_id/test.post.mjs';
import endpoint88 from '../routes/api/v1/index7.get.mjs';
import endpoint89 from '../routes/api/v1/index6.post.mjs';
import endpoint90 from '../routes/api/v1/notifications/_id/deliveries.get.mjs';
import endpoint91 from '../routes/api/v1/notifications/index.delete.mjs';
import endpoint92 from '../routes/api/v1/notifications/index.get.mjs';
import endpoint93 from '../routes/api/v1/notifications/index.patch.mjs';
import endpoint94 from '../routes/api/v1/notifications/_id/test.post.mjs';
import endpoint95 from '../routes/api/v1/index8.get.mjs';
import endpoint96 from '../routes/api/v1/index7.post.mjs';
import endpoint97 from '../routes/api/v1/server/logs.get.mjs';
import endpoint98 from '../routes/api/v1/server/metrics/history.get.mjs';
import endpoint99 from '../routes/api/v1/server/index.get.mjs';
import endpoint100 from '../routes/api/v1/services/_id/deploy-hook/rotate.post.mjs';
import endpoint101 from '../routes/api/v1/services/_id/index.get.mjs';
import endpoint102 from '../routes/api/v1/services/_id/index.post.mjs';
import endpoint103 from '../routes/api/v1/services/_id/deploys/upload.post.mjs';
import endpoint104 from '../routes/api/v1/services/_id/domains/_domain_.delete.mjs';
import endpoint105 from '../routes/api/v1/services/_id/domains/_domain/verify.post.mjs';
import endpoint106 from '../routes/api/v1/services/_id/index2.get.mjs';
import endpoint107 from '../routes/api/v1/services/_id/index2.post.mjs';
import endpoint108 from '../routes/api/v1/services/_id/env-groups/_group_.delete.mjs';
import endpoint109 from '../routes/api/v1/services/_id/index3.post.mjs';
import endpoint110 from '../routes/api/v1/services/_id/index3.get.mjs';
import endpoint111 from '../routes/api/v1/services/_id/index.patch.mjs';
import endpoint112 from '../routes/api/v1/services/_id/index.put.mjs';
import endpoint113 from '../routes/api/v1/services/index.delete.mjs';
import endpoint114 from '../routes/api/v1/services/index.get.mjs';
import endpoint115 from '../routes/api/v1/services/index.patch.mjs';
import endpoint116 from '../routes/api/v1/services/_id/index4.get.mjs';
import endpoint117 from '../routes/api/v1/services/_id/index4.post.mjs';
import endpoint118 from '../routes/api/v1/services/_id/logs.get.mjs';
import endpoint119 from '../routes/api/v1/services/_id/metrics.get.mjs';
import endpoint120 from '../routes/api/v1/services/_id/restart.post.mjs';
import endpoint121 from '../routes/api/v1/services/_id/resume.post.mjs';
import endpoint122 from '../routes/api/v1/services/_id/rollback.post.mjs';
import endpoint123 from '../routes/api/v1/services/_id/scale.post.mjs';
import endpoint124 from '../routes/api/v1/services/_id/status.get.mjs';
import endpoint125 from '../routes/api/v1/services/_id/suspend.post.mjs';
import endpoint126 from '../routes/api/v1/index9.get.mjs';
import endpoint127 from '../routes/api/v1/index8.post.mjs';
import endpoint128 from '../routes/healthz.get.mjs';
import endpoint129 from '../routes/hooks/deploy/_service_id_.get.mjs';
import endpoint130 from '../routes/hooks/deploy/_service_id_.post.mjs';
import endpoint131 from '../routes/hooks/gitprov.post.mjs';
import endpoint132 from '../routes/metrics.get.mjs';
import 'zod';
import '../_/schemas.mjs';
import '../_/schema9.mjs';
import '../_/schema.mjs';
import '../_/cron.mjs';
import '../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import '../_/kinds.mjs';
import '../_/states3.mjs';
import '../_/machine.mjs';
import '../_/schema6.mjs';
import '../_/refs.mjs';
import '../_/query.mjs';
import '../_/states.mjs';
import '../_/input2.mjs';
import '../_/schema2.mjs';
import '../_/schema3.mjs';
import '../_/names.mjs';
import 'node:url';
import 'tldts';
import '../_/bare-host.mjs';
import '../_/input.mjs';
import '../_/addresses.mjs';
import 'node:os';
import '../_/judged.mjs';
import 'node:dns';
import '../_/url.mjs';
import '../_/schema4.mjs';
import '../_/rules.mjs';
import '../_/references.mjs';
import '../_/rules2.mjs';
import '../_/schema5.mjs';
import '../_/schema7.mjs';
import '../_/states2.mjs';
import '../_/types.mjs';
import '../_/watch-paths.mjs';
import '../_/endpoint.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../_/send.mjs';
import '../_/compression.mjs';
import 'node:zlib';
import '../_/validate.mjs';
import '../_/page.mjs';
import '../_/schema10.mjs';
import '../_/synced.mjs';
import '../_/changes.mjs';
import '../_/store.mjs';
import '../_/same-repository.mjs';
import '../_/view.mjs';
import '../_/store2.mjs';
import '../_/view2.mjs';
import '../_/store3.mjs';
import '../_/internal-port.mjs';
import '../_/view3.mjs';
import '../_/public-address.mjs';
import '../_/store4.mjs';
import '../_/hosts.mjs';
import '../_/store5.mjs';
import '../_/synced-schema.mjs';
import '../_/requests.mjs';
import '../_/index.mjs';
import '../_/reading-thread.mjs';
import '../_/slots.mjs';
import '../_/worker-thread.mjs';
import 'node:worker_threads';
import '../_/run-each.mjs';
import 'dockerode';
import '../_/answer-of.mjs';
import 'node:fs/promises';
import 'node:http2';
import 'node:child_process';
import '../_/operations2.mjs';
import '../_/log-files.mjs';
import '../_/qualified-name.mjs';
import '../_/store6.mjs';
import '../_/store7.mjs';
import '../_/view4.mjs';
import '../_/operations3.mjs';
import '../_/operations4.mjs';
import '../_/claims.mjs';
import '../_/referrers.mjs';
import '../_/written.mjs';
import '../_/operations5.mjs';
import '../_/operations6.mjs';
import '../_/view5.mjs';
import '../_/restart.mjs';
import 'node:dns/promises';
import '../_/repository-file.mjs';
import '../_/serving.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../_/version.mjs';
import '../_/jobs.mjs';
import '../_/branches.mjs';
import '../_/size-watch.mjs';
import '../_/instances.mjs';
import '../_/hosts2.mjs';
import '../_/operations.mjs';
import '../_/limits.mjs';
import '../_/records.mjs';
import '../_/protocol.mjs';
import 'node:tls';
import '../_/source-tree.mjs';
import '../_/filter.mjs';
import 'node:stream/promises';
import 're2js';
import '../_/settled.mjs';
import '../_/operations7.mjs';
import 'aws4fetch';
import '../_/states4.mjs';
import 'tar-stream';
import '../_/operations8.mjs';
import 'node:stream/consumers';
import '../_/archives.mjs';
import '../_/authorize.mjs';
import '../_/operations9.mjs';
import '../_/schema8.mjs';
import '../_/delivery.mjs';
import '../_/operations10.mjs';
import '../_/table.mjs';
import '../_/latest.mjs';
import 'node:sqlite';
import '../_/latency-buckets.mjs';
import '../_/operations11.mjs';
import '../_/drain.mjs';
import '../_/client.mjs';
import '../_/find.mjs';
import '../_/greeting.mjs';
import '../_/ssh-key2.mjs';
import '../_/origin.mjs';
import 'yaml';
import '../_/schema11.mjs';
import '../_/view6.mjs';
import '../_/operations12.mjs';
import '../_/schema12.mjs';
import '../_/conditional.mjs';
import '../_/head.mjs';
import '../_/view7.mjs';
import '../_/event-stream.mjs';
import '../_/log-events.mjs';
import '../_/schema13.mjs';
import '../_/archive.mjs';
import '../_/view8.mjs';
import '../_/schema14.mjs';
import '../_/view9.mjs';
import '../_/dns.mjs';
import '../_/host-checks.mjs';
import '../_/view10.mjs';
import '../_/callback.mjs';
import '../_/log.mjs';
import '../_/secrets.mjs';
import '../_/schema15.mjs';
import '../_/view11.mjs';
import '../_/custom-domains.mjs';
import '../_/variables.mjs';
import '../_/hook.mjs';

const endpoints = [
  { path: "/api/blueprint.schema.json", method: "get", handler: endpoint0 },
  { path: "/api/docs/:file", method: "get", handler: endpoint1 },
  { path: "/api/docs", method: "get", handler: endpoint2 },
  { path: "/api/openapi.json", method: "get", handler: endpoint3 },
  { path: "/api/v1/auth/cli/:id/approve", method: "post", handler: endpoint4 },
  { path: "/api/v1/auth/cli/:id/deny", method: "post", handler: endpoint5 },
  { path: "/api/v1/auth/cli/:id", method: "get", handler: endpoint6 },
  { path: "/api/v1/auth/cli/:id/token", method: "post", handler: endpoint7 },
  { path: "/api/v1/auth/cli", method: "post", handler: endpoint8 },
  { path: "/api/v1/auth/login", method: "post", handler: endpoint9 },
  { path: "/api/v1/auth/logout", method: "post", handler: endpoint10 },
  { path: "/api/v1/auth/password", method: "post", handler: endpoint11 },
  { path: "/api/v1/auth/sessions/:id", method: "delete", handler: endpoint12 },
  { path: "/api/v1/auth/sessions", method: "get", handler: endpoint13 },
  { path: "/api/v1/auth/setup", method: "post", handler: endpoint14 },
  { path: "/api/v1/auth/status", method: "get", handler: endpoint15 },
  { path: "/api/v1/auth/tokens/:id", method: "delete", handler: endpoint16 },
  { path: "/api/v1/auth/tokens", method: "get", handler: endpoint17 },
  { path: "/api/v1/auth/tokens", method: "post", handler: endpoint18 },
  { path: "/api/v1/blueprints/:id", method: "delete", handler: endpoint19 },
  { path: "/api/v1/blueprints/:id", method: "get", handler: endpoint20 },
  { path: "/api/v1/blueprints/:id", method: "patch", handler: endpoint21 },
  { path: "/api/v1/blueprints/:id/sync", method: "post", handler: endpoint22 },
  { path: "/api/v1/blueprints/apply", method: "post", handler: endpoint23 },
  { path: "/api/v1/blueprints/convert", method: "post", handler: endpoint24 },
  { path: "/api/v1/blueprints/export", method: "get", handler: endpoint25 },
  { path: "/api/v1/blueprints/file", method: "get", handler: endpoint26 },
  { path: "/api/v1/blueprints", method: "get", handler: endpoint27 },
  { path: "/api/v1/blueprints", method: "post", handler: endpoint28 },
  { path: "/api/v1/certificates", method: "get", handler: endpoint29 },
  { path: "/api/v1/certificates/uploaded/:id", method: "delete", handler: endpoint30 },
  { path: "/api/v1/certificates/uploaded", method: "get", handler: endpoint31 },
  { path: "/api/v1/certificates/uploaded", method: "post", handler: endpoint32 },
  { path: "/api/v1/datastores/:id/backups/:backup_id/download", method: "get", handler: endpoint33 },
  { path: "/api/v1/datastores/:id/backups/:backup_id", method: "delete", handler: endpoint34 },
  { path: "/api/v1/datastores/:id/backups/:backup_id", method: "get", handler: endpoint35 },
  { path: "/api/v1/datastores/:id/backups/:backup_id/restore", method: "post", handler: endpoint36 },
  { path: "/api/v1/datastores/:id/backups", method: "get", handler: endpoint37 },
  { path: "/api/v1/datastores/:id/backups", method: "post", handler: endpoint38 },
  { path: "/api/v1/datastores/:id", method: "delete", handler: endpoint39 },
  { path: "/api/v1/datastores/:id", method: "get", handler: endpoint40 },
  { path: "/api/v1/datastores/:id", method: "patch", handler: endpoint41 },
  { path: "/api/v1/datastores/:id/logs", method: "get", handler: endpoint42 },
  { path: "/api/v1/datastores/:id/references", method: "get", handler: endpoint43 },
  { path: "/api/v1/datastores/:id/upgrade", method: "post", handler: endpoint44 },
  { path: "/api/v1/datastores", method: "get", handler: endpoint45 },
  { path: "/api/v1/datastores", method: "post", handler: endpoint46 },
  { path: "/api/v1/deploys/:deploy_id/cancel", method: "post", handler: endpoint47 },
  { path: "/api/v1/deploys/:deploy_id", method: "get", handler: endpoint48 },
  { path: "/api/v1/deploys/:deploy_id/logs", method: "get", handler: endpoint49 },
  { path: "/api/v1/detect", method: "post", handler: endpoint50 },
  { path: "/api/v1/domains/:id", method: "delete", handler: endpoint51 },
  { path: "/api/v1/domains/:id", method: "get", handler: endpoint52 },
  { path: "/api/v1/domains/:id", method: "patch", handler: endpoint53 },
  { path: "/api/v1/domains/:id/verify", method: "post", handler: endpoint54 },
  { path: "/api/v1/domains", method: "get", handler: endpoint55 },
  { path: "/api/v1/domains", method: "post", handler: endpoint56 },
  { path: "/api/v1/env-groups/:id/env", method: "patch", handler: endpoint57 },
  { path: "/api/v1/env-groups/:id/env", method: "put", handler: endpoint58 },
  { path: "/api/v1/env-groups/:id", method: "delete", handler: endpoint59 },
  { path: "/api/v1/env-groups/:id", method: "get", handler: endpoint60 },
  { path: "/api/v1/env-groups", method: "get", handler: endpoint61 },
  { path: "/api/v1/env-groups", method: "post", handler: endpoint62 },
  { path: "/api/v1/environments/:id", method: "delete", handler: endpoint63 },
  { path: "/api/v1/environments/:id", method: "get", handler: endpoint64 },
  { path: "/api/v1/environments/:id/verify", method: "post", handler: endpoint65 },
  { path: "/api/v1/environments", method: "get", handler: endpoint66 },
  { path: "/api/v1/environments", method: "post", handler: endpoint67 },
  { path: "/api/v1/events", method: "get", handler: endpoint68 },
  { path: "/api/v1/git/authorize", method: "post", handler: endpoint69 },
  { path: "/api/v1/git/branches", method: "get", handler: endpoint70 },
  { path: "/api/v1/git/callback", method: "post", handler: endpoint71 },
  { path: "/api/v1/git/connections/:id", method: "delete", handler: endpoint72 },
  { path: "/api/v1/git/connections/:id", method: "get", handler: endpoint73 },
  { path: "/api/v1/git/connections/:id/repositories", method: "get", handler: endpoint74 },
  { path: "/api/v1/git/connections", method: "get", handler: endpoint75 },
  { path: "/api/v1/git/connections", method: "post", handler: endpoint76 },
  { path: "/api/v1/git/deliveries", method: "get", handler: endpoint77 },
  { path: "/api/v1/git/ssh-key", method: "get", handler: endpoint78 },
  { path: "/api/v1/info", method: "get", handler: endpoint79 },
  { path: "/api/v1/jobs/:job_id/cancel", method: "post", handler: endpoint80 },
  { path: "/api/v1/jobs/:job_id", method: "get", handler: endpoint81 },
  { path: "/api/v1/jobs/:job_id/logs", method: "get", handler: endpoint82 },
  { path: "/api/v1/log-drains/:id/deliveries", method: "get", handler: endpoint83 },
  { path: "/api/v1/log-drains/:id", method: "delete", handler: endpoint84 },
  { path: "/api/v1/log-drains/:id", method: "get", handler: endpoint85 },
  { path: "/api/v1/log-drains/:id", method: "patch", handler: endpoint86 },
  { path: "/api/v1/log-drains/:id/test", method: "post", handler: endpoint87 },
  { path: "/api/v1/log-drains", method: "get", handler: endpoint88 },
  { path: "/api/v1/log-drains", method: "post", handler: endpoint89 },
  { path: "/api/v1/notifications/:id/deliveries", method: "get", handler: endpoint90 },
  { path: "/api/v1/notifications/:id", method: "delete", handler: endpoint91 },
  { path: "/api/v1/notifications/:id", method: "get", handler: endpoint92 },
  { path: "/api/v1/notifications/:id", method: "patch", handler: endpoint93 },
  { path: "/api/v1/notifications/:id/test", method: "post", handler: endpoint94 },
  { path: "/api/v1/notifications", method: "get", handler: endpoint95 },
  { path: "/api/v1/notifications", method: "post", handler: endpoint96 },
  { path: "/api/v1/server/logs", method: "get", handler: endpoint97 },
  { path: "/api/v1/server/metrics/history", method: "get", handler: endpoint98 },
  { path: "/api/v1/server/metrics", method: "get", handler: endpoint99 },
  { path: "/api/v1/services/:id/deploy-hook/rotate", method: "post", handler: endpoint100 },
  { path: "/api/v1/services/:id/deploys", method: "get", handler: endpoint101 },
  { path: "/api/v1/services/:id/deploys", method: "post", handler: endpoint102 },
  { path: "/api/v1/services/:id/deploys/upload", method: "post", handler: endpoint103 },
  { path: "/api/v1/services/:id/domains/:domain", method: "delete", handler: endpoint104 },
  { path: "/api/v1/services/:id/domains/:domain/verify", method: "post", handler: endpoint105 },
  { path: "/api/v1/services/:id/domains", method: "get", handler: endpoint106 },
  { path: "/api/v1/services/:id/domains", method: "post", handler: endpoint107 },
  { path: "/api/v1/services/:id/env-groups/:group", method: "delete", handler: endpoint108 },
  { path: "/api/v1/services/:id/env-groups", method: "post", handler: endpoint109 },
  { path: "/api/v1/services/:id/env", method: "get", handler: endpoint110 },
  { path: "/api/v1/services/:id/env", method: "patch", handler: endpoint111 },
  { path: "/api/v1/services/:id/env", method: "put", handler: endpoint112 },
  { path: "/api/v1/services/:id", method: "delete", handler: endpoint113 },
  { path: "/api/v1/services/:id", method: "get", handler: endpoint114 },
  { path: "/api/v1/services/:id", method: "patch", handler: endpoint115 },
  { path: "/api/v1/services/:id/jobs", method: "get", handler: endpoint116 },
  { path: "/api/v1/services/:id/jobs", method: "post", handler: endpoint117 },
  { path: "/api/v1/services/:id/logs", method: "get", handler: endpoint118 },
  { path: "/api/v1/services/:id/metrics", method: "get", handler: endpoint119 },
  { path: "/api/v1/services/:id/restart", method: "post", handler: endpoint120 },
  { path: "/api/v1/services/:id/resume", method: "post", handler: endpoint121 },
  { path: "/api/v1/services/:id/rollback", method: "post", handler: endpoint122 },
  { path: "/api/v1/services/:id/scale", method: "post", handler: endpoint123 },
  { path: "/api/v1/services/:id/status", method: "get", handler: endpoint124 },
  { path: "/api/v1/services/:id/suspend", method: "post", handler: endpoint125 },
  { path: "/api/v1/services", method: "get", handler: endpoint126 },
  { path: "/api/v1/services", method: "post", handler: endpoint127 },
  { path: "/healthz", method: "get", handler: endpoint128 },
  { path: "/hooks/deploy/:service_id", method: "get", handler: endpoint129 },
  { path: "/hooks/deploy/:service_id", method: "post", handler: endpoint130 },
  { path: "/hooks/gitprov", method: "post", handler: endpoint131 },
  { path: "/metrics", method: "get", handler: endpoint132 },
];

export { endpoints };
