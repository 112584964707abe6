import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';
import { b as bareHost } from './bare-host.mjs';
import { A as AppError } from '../nitro/nitro.mjs';

const MAX_NAME_CHARACTERS = 253;
const TOO_LONG = `must have at most ${MAX_NAME_CHARACTERS} characters`;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const LOCAL_SUFFIXES = ["localhost", "test", "local", "lan", "internal", "home.arpa"];
function isLocalName(name) {
  return LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}
function readName(text) {
  const given = text.trim().replace(/[.。．｡]$/, "");
  if (given.includes("*"))
    return { fault: "wildcards are not taken: name the domain itself, such as example.com" };
  if (isAddress(given)) return { fault: "an IP address is no domain name" };
  if (/[\s:/?#@[\]\\%]/.test(given))
    return { fault: "must be a domain name alone, without scheme, port or path" };
  if (given.length > MAX_NAME_CHARACTERS) return { fault: TOO_LONG };
  const name = domainToASCII(given);
  const fault = faultOf(name);
  return fault === null ? { name } : { fault };
}
function normalName(text, field) {
  const read = readName(text);
  if ("fault" in read) throw new AppError("invalid_request", `${field}: ${read.fault}`);
  return read.name;
}
function faultOf(name) {
  if (name === "") return "must be a domain name such as example.com";
  if (isAddress(name)) return "an IP address is no domain name";
  if (name.length > MAX_NAME_CHARACTERS) return TOO_LONG;
  if (!name.split(".").every((label) => LABEL.test(label)))
    return "each label must be 1 to 63 of a-z, 0-9 and hyphen, with no hyphen first or last";
  const shown = domainToUnicode(name);
  if (/(^|\.)xn--/.test(shown) || domainToASCII(shown) !== name)
    return "has a label that begins with xn-- and stands for no name: write it in its own letters";
  if (name === "localhost") return null;
  if (!name.includes(".")) return "must have at least two labels, such as example.com";
  return parse(name).publicSuffix === name && !isLocalName(name) ? `${name} is a public suffix, under which anyone may register: name a domain of yours` : null;
}
function isAddress(text) {
  return isIP(bareHost(text)) !== 0;
}

export { MAX_NAME_CHARACTERS as M, isLocalName as i, normalName as n, readName as r };
