import { z } from 'zod';
import { J as useContext } from '../../../../nitro/nitro.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { e as ensureSshKey } from '../../../../_/ssh-key2.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';
import 'node:child_process';
import 'node:fs/promises';

const endpoint78 = defineEndpoint({
  summary: "Read the server's public key, which a private repository must allow to clone it over ssh",
  auth: "token",
  response: z.object({
    public_key: z.string().meta({ examples: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0 deployer"] })
  }).meta({ id: "SshKey" }),
  async handler() {
    return { public_key: await ensureSshKey(useContext().options.dataDirectory) };
  }
});

export { endpoint78 as default };
