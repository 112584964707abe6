import { join, dirname } from 'node:path';
import { P as ProxyClient } from './client.mjs';
import { f as findProxy, k as keptServerId } from './find.mjs';
import { A as AppError } from '../nitro/nitro.mjs';
import { r as readOptions } from './options.mjs';
import { V as VERSION } from './version.mjs';
import 'node:os';
import 'node:timers/promises';
import './greeting.mjs';
import 'node:net';
import 'node:fs';
import './protocol.mjs';
import 'node:child_process';
import 'node:crypto';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:util';
import 'zod';
import './dns-provider.mjs';
import './names.mjs';
import 'node:url';
import 'tldts';
import './bare-host.mjs';
import 'node:tls';
import './rules2.mjs';

async function proxy(argv) {
  const [action, ...flags] = argv;
  if (action !== "start" && action !== "upgrade")
    throw new AppError("invalid_request", "the command is deployer proxy start or deployer proxy upgrade");
  const { dataDirectory, proxyWorkers } = readOptions(flags, ownEnvironment());
  if (action === "upgrade") await mustRun(dataDirectory);
  const client = await ProxyClient.connect({
    dataDirectory,
    serverId: serverOf(dataDirectory),
    version: VERSION,
    program: join(dirname(process.argv[1]), "proxy.mjs"),
    node: process.execPath,
    ...proxyWorkers === null ? {} : { workers: proxyWorkers },
    log: (message) => process.stderr.write(`${message}
`)
  });
  client.close();
  process.stdout.write(`the data plane runs version ${VERSION}
`);
  return 0;
}
function ownEnvironment() {
  const { DEPLOYER_DATA_DIR, DEPLOYER_PROXY_WORKERS, XDG_DATA_HOME } = process.env;
  return { DEPLOYER_DATA_DIR, DEPLOYER_PROXY_WORKERS, XDG_DATA_HOME };
}
async function mustRun(dataDirectory) {
  const found = await findProxy(dataDirectory);
  found?.close();
  if (!found)
    throw new AppError("io_error", `no data plane runs on ${dataDirectory}; deployer serve starts it`);
}
function serverOf(dataDirectory) {
  const serverId = keptServerId(dataDirectory);
  if (serverId === null)
    throw new AppError("io_error", `no server has used ${dataDirectory} yet: start it first`);
  return serverId;
}

export { proxy };
