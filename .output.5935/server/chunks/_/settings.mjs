import { chmodSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { p as parseFlags, D as DNS_PROVIDER_VARIABLES, F as FLAGS } from './dns-provider.mjs';
import { n as PRIVATE_FILE_MODE, w as writePrivateFile, A as AppError } from '../nitro/nitro.mjs';
import { a as SETTINGS_FILE } from './layout.mjs';

const isPath = (name) => name === "data-dir" || name.endsWith("-file");
const UNIT_FLAGS = ["data-plane"];
const FURTHER_VARIABLES = [...DNS_PROVIDER_VARIABLES, "DOCKER_CONFIG"];
function keptSettings() {
  return parseSettings(readKept());
}
function givenSettings(argv, environment) {
  const flags = parseFlags(argv);
  const given = {};
  for (const variable of FURTHER_VARIABLES) take(variable, environment[variable]);
  for (const name of Object.keys(FLAGS)) {
    if (UNIT_FLAGS.includes(name)) continue;
    const value = flags[name] ?? environment[FLAGS[name].variable];
    take(FLAGS[name].variable, value && isPath(name) ? resolve(value) : value);
  }
  return given;
  function take(variable, value) {
    if (value !== void 0) given[variable] = value;
  }
}
function keepSettings(given) {
  const before = readKept();
  const after = withSettings(before, given);
  if (after === before && before !== "") return chmodSync(SETTINGS_FILE, PRIVATE_FILE_MODE);
  writePrivateFile(SETTINGS_FILE, after);
}
const HEADER = "# Settings of the server, one variable a line; after a change: deployer install\n";
function withSettings(text, given) {
  const left = new Map(Object.entries(given));
  const lines = (text === "" ? HEADER : text).split("\n").flatMap((line) => {
    const variable = variableOf(line);
    if (variable === null || !(variable in given)) return [line];
    const value = left.get(variable);
    left.delete(variable);
    return value === void 0 || value === "" ? [] : [assignment(variable, value, line)];
  });
  const added = [...left].filter(([, value]) => value !== "").map(([name, value]) => assignment(name, value));
  while (lines.at(-1) === "") lines.pop();
  return [...lines, ...added, ""].join("\n");
}
function assignment(variable, value, before) {
  if (/\p{Cc}/u.test(value))
    throw new AppError("invalid_request", `${variable} has a line break or another control character`);
  if (before !== void 0 && parseSettings(before)[variable] === value) return before;
  return `${variable}="${value.replace(/["\\$`]/g, "\\$&")}"`;
}
function parseSettings(text) {
  const settings = {};
  for (const [index, line] of text.split("\n").entries()) {
    const parsed = parseLine(line);
    if (parsed === "broken")
      throw new AppError(
        "invalid_request",
        `${SETTINGS_FILE}, line ${index + 1}: write NAME=value or NAME="value"`
      );
    if (parsed) settings[parsed.variable] = parsed.value;
  }
  return settings;
}
function variableOf(line) {
  const parsed = parseLine(line);
  return parsed && parsed !== "broken" ? parsed.variable : null;
}
const PARTS = /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)|([^"'\\])/gy;
function parseLine(line) {
  const text = line.trim();
  if (text === "" || /^[#;]/.test(text)) return null;
  const [, variable, rest] = /^([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(text) ?? [];
  if (variable === void 0 || rest === void 0) return "broken";
  let value = "";
  let end = 0;
  for (const [part, double, single, escaped, bare] of rest.matchAll(PARTS)) {
    end += part.length;
    value += double?.replace(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? bare;
  }
  return end === rest.length ? { variable, value } : "broken";
}
function readKept() {
  try {
    return readFileSync(SETTINGS_FILE, "utf8");
  } catch (cause) {
    const { code, message } = cause;
    if (code === "ENOENT") return "";
    throw new AppError("io_error", `${message}: run this as root`, { cause });
  }
}

export { keepSettings as a, givenSettings as g, keptSettings as k };
