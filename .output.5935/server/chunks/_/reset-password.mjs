import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { m as messageOf, A as AppError, g as selectAccount, P as Password, i as replacePassword, o as openDatabase } from '../nitro/nitro.mjs';
import { r as readOptions } from './options.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:crypto';
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

const MAX_INPUT_BYTES = 4096;
async function resetPassword(argv) {
  try {
    process.stdout.write(`${await replace(readDirectory(argv))}
`);
    return 0;
  } catch (error) {
    process.stderr.write(`deployer reset-password: ${messageOf(error)}
`);
    return 1;
  }
}
function readDirectory(argv) {
  const { values } = parseArgs({ args: argv, options: { "data-dir": { type: "string" } }, strict: true });
  const { DEPLOYER_DATA_DIR, XDG_DATA_HOME } = process.env;
  const flag = values["data-dir"] === void 0 ? [] : [`--data-dir=${values["data-dir"]}`];
  return readOptions(flag, { DEPLOYER_DATA_DIR, XDG_DATA_HOME }).dataDirectory;
}
async function replace(directory) {
  const file = join(directory, "deployer.db");
  const none = new AppError(
    "not_found",
    `there is no account in ${directory}: set the server up first, or name its --data-dir`
  );
  if (!existsSync(file)) throw none;
  const database = await open(file);
  try {
    if (!selectAccount(database)) throw none;
    const password = Password.safeParse(await readPassword());
    if (!password.success) {
      throw new AppError(
        "invalid_request",
        `the password ${password.error.issues[0].message}; it is as it was`
      );
    }
    const email = await replacePassword(database, password.data);
    return `The password of ${email} is replaced, and every session has ended. API tokens still work.`;
  } finally {
    await database.close();
  }
}
async function open(file) {
  try {
    return await openDatabase(file);
  } catch (cause) {
    throw new AppError(
      "database_error",
      `cannot open ${file}: ${messageOf(cause)}; run this as the server's user`,
      { cause }
    );
  }
}
async function readPassword() {
  if (process.stdin.isTTY) return askTwice();
  const chunks = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_INPUT_BYTES)
      throw new AppError("invalid_request", "what standard input holds is too long for a password");
  }
  return Buffer.concat(chunks).toString("utf8").replace(/\r?\n$/, "");
}
async function askTwice() {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const left = new AbortController();
  terminal.once("close", () => left.abort());
  const ask = async (prompt) => {
    process.stderr.write(prompt);
    try {
      return await terminal.question("", { signal: left.signal });
    } catch (cause) {
      throw new AppError("canceled", "stopped; the password is as it was", { cause });
    } finally {
      process.stderr.write("\n");
    }
  };
  try {
    const password = await ask("New password: ");
    if (password !== await ask("Again: ")) {
      throw new AppError("invalid_request", "the two passwords differ; the password is as it was");
    }
    return password;
  } finally {
    terminal.close();
  }
}

export { resetPassword };
