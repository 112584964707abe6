import { p as prepareDataDirectory } from './data-directory.mjs';
import { r as readOptions } from './options.mjs';
import { e as ensureSshKey } from './ssh-key2.mjs';
import 'node:fs';
import 'node:path';
import '../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'zod';
import 'node:os';
import './dns-provider.mjs';
import './names.mjs';
import 'node:url';
import 'tldts';
import './bare-host.mjs';
import 'node:tls';
import './rules2.mjs';
import 'node:child_process';
import 'node:fs/promises';

async function printSshKey(argv) {
  const { dataDirectory } = readOptions(argv);
  prepareDataDirectory(dataDirectory);
  process.stdout.write(`${(await ensureSshKey(dataDirectory)).trim()}
`);
  return 0;
}

export { printSshKey };
