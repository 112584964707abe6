import process from 'node:process';globalThis._importMeta_={url:import.meta.url,env:process.env};import { A as AppError, m as messageOf } from './chunks/nitro/nitro.mjs';
import { V as VERSION } from './chunks/_/version.mjs';
import { F as FLAGS } from './chunks/_/dns-provider.mjs';
import { k as keptSettings } from './chunks/_/settings.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'zod';
import './chunks/_/layout.mjs';

const DATA_DIRECTORY = "Takes --data-dir where the server has another data directory than the usual one.";
const USAGES = [
  { synopsis: "serve [flags]", summary: "run the server" },
  {
    synopsis: "install [flags]",
    summary: "run the server as a service, now and after each boot; flags of serve are kept",
    more: "A flag that was kept stays until it is given again; one with an empty value is forgotten. Needs root and systemd."
  },
  {
    synopsis: "uninstall [--data]",
    summary: "end the service; containers and data stay unless --data says otherwise"
  },
  {
    synopsis: "status",
    summary: "say what runs, where, and in which version",
    more: `The exit code is 0 when both programs run, else 3.
${DATA_DIRECTORY}`
  },
  {
    synopsis: "stop [--all]",
    summary: "end the server; with --all the data plane too",
    more: `Containers go on in both cases; without --all requests are answered on.
${DATA_DIRECTORY}`
  },
  {
    synopsis: "reset-password",
    summary: "replace a forgotten password (read from standard input)",
    more: `Works with the server running or not, ends every session, and lets sign-ins be judged again after too many that failed.
API tokens stay. On a terminal it asks for the new password; else it reads it from standard input:

  printf '%s' "$NEW_PASSWORD" | deployer reset-password

${DATA_DIRECTORY}`
  },
  {
    synopsis: "ssh-key",
    summary: "print the server's public key for clones over ssh",
    more: `It is made when there is none yet.
${DATA_DIRECTORY}`
  },
  {
    synopsis: "proxy upgrade",
    summary: "replace the running data plane by this version, without a failed request",
    more: DATA_DIRECTORY
  },
  {
    synopsis: "proxy start",
    summary: "bring the data plane up, for a unit of its own",
    more: DATA_DIRECTORY
  },
  { synopsis: "version", summary: "print the version" },
  { synopsis: "help [command]", summary: "print this, or more about a command" }
];
const SYNOPSIS_WIDTH = 36;
function helpText(command) {
  if (command === void 0 || command === "serve" || command === "help") return overview();
  const usages = USAGES.filter(({ synopsis }) => synopsis.split(" ")[0] === command);
  if (usages.length === 0) throw unknownCommand(command);
  return usages.map(
    ({ synopsis, summary, more }) => [`Usage: deployer ${synopsis}`, "", `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, more].filter((line) => line !== void 0).join("\n")
  ).join("\n\n");
}
function unknownCommand(name) {
  return new AppError("invalid_request", `there is no command ${name}; see deployer help`);
}
function overview() {
  const width = Math.max(...Object.keys(FLAGS).map((name) => name.length)) + 4;
  const flags = Object.entries(FLAGS).map(
    ([name, { help, variable }]) => `  ${`--${name}`.padEnd(width)}${help} [${variable}]`
  );
  return [
    ...USAGES.map(({ synopsis, summary }) => `deployer ${synopsis}`.padEnd(SYNOPSIS_WIDTH) + summary),
    "",
    "Flags of serve; a flag wins over its variable. The other commands take --data-dir.",
    ...flags
  ].join("\n");
}

const COMMANDS = new Map(
  Object.entries({
    "reset-password": async (argv) => (await import('./chunks/_/reset-password.mjs')).resetPassword(argv),
    "ssh-key": async (argv) => (await import('./chunks/_/ssh-key.mjs')).printSshKey(argv),
    stop: async (argv) => (await import('./chunks/_/stop.mjs')).stop(argv),
    proxy: async (argv) => (await import('./chunks/_/proxy.mjs')).proxy(argv),
    install: async (argv) => (await import('./chunks/_/install.mjs')).install(argv),
    uninstall: async (argv) => (await import('./chunks/_/uninstall.mjs')).uninstall(argv),
    status: async (argv) => (await import('./chunks/_/status.mjs')).status(argv),
    version: () => Promise.resolve(print(VERSION)),
    help: (argv) => Promise.resolve(print(helpText(argv[0])))
  })
);
const ALIASES = /* @__PURE__ */ new Map([
  ["--help", "help"],
  ["-h", "help"],
  ["--version", "version"],
  ["-v", "version"]
]);
const OF_THE_INSTALLED = ["reset-password", "ssh-key", "stop", "status"];
async function runCommand(argv, serve) {
  const [name = "help", ...rest] = argv;
  const wanted = ALIASES.get(name) ?? name;
  try {
    if (wanted !== "help" && rest.some((word) => ALIASES.get(word) === "help"))
      return void print(helpText(wanted));
    if (wanted === "serve") return await serve(rest);
    const command = COMMANDS.get(wanted);
    if (!command) throw unknownCommand(name);
    if (OF_THE_INSTALLED.includes(wanted)) takeKeptSettings();
    process.exitCode = await command(rest);
  } catch (error) {
    const text = error instanceof AppError ? messageOf(error) : String(error.stack ?? error);
    process.stderr.write(`deployer: ${text}
`);
    process.exit(1);
  }
}
function takeKeptSettings() {
  try {
    process.env = { ...keptSettings(), ...process.env };
  } catch {
  }
}
function print(text) {
  process.stdout.write(`${text}
`);
  return 0;
}

await runCommand(process.argv.slice(2), async (argv) => (await import('./chunks/_/serve.mjs')).serve(argv));
