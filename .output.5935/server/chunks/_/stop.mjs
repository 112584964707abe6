import { setTimeout } from 'node:timers/promises';
import { f as findProxy } from './find.mjs';
import { r as readOptions } from './options.mjs';
import { f as findServer } from './running.mjs';
import './greeting.mjs';
import 'node:net';
import 'node:fs';
import 'node:path';
import 'node:child_process';
import 'node:crypto';
import '../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:util';
import 'zod';
import 'node:os';
import './dns-provider.mjs';
import './names.mjs';
import 'node:url';
import 'tldts';
import './bare-host.mjs';
import 'node:tls';
import './rules2.mjs';
import './data-lock.mjs';
import 'node:sqlite';

const WAIT_MS = 15e3;
const LOOK_EVERY_MS = 50;
async function stop(argv) {
  const all = argv.includes("--all");
  const { dataDirectory } = readOptions(argv.filter((word) => word !== "--all"));
  const server = findServer(dataDirectory);
  if (server) {
    process.kill(server.pid, "SIGTERM");
    const began = performance.now();
    while (findServer(dataDirectory)) {
      if (performance.now() - began > WAIT_MS) {
        process.stderr.write(`the server (process ${server.pid}) has not ended within ${WAIT_MS / 1e3} s
`);
        return 1;
      }
      await setTimeout(LOOK_EVERY_MS);
    }
    process.stdout.write("the server has ended\n");
  } else process.stdout.write("no server runs on this data directory\n");
  if (!all) return 0;
  const proxy = await findProxy(dataDirectory);
  await proxy?.stop();
  process.stdout.write(proxy ? "the data plane has ended\n" : "no data plane runs on this data directory\n");
  return 0;
}

export { stop };
