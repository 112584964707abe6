import { b as bareHost } from './bare-host.mjs';
import { h as hostFault } from './addresses.mjs';
import { o as ownReach } from './judged.mjs';
import { Z as judged } from '../nitro/nitro.mjs';
import { r as repositoryUrlFault, p as parseRepositoryUrl, u as usualPort } from './url.mjs';

const MAX_URL_CHARACTERS = 2048;
const LENGTHS = { minLength: 1, maxLength: MAX_URL_CHARACTERS };
function deployableUrlFault(text) {
  const fault = repositoryUrlFault(text);
  if (fault !== null) return fault;
  const { host, port, protocol } = parseRepositoryUrl(text);
  const found = hostFault(host, port ?? usualPort(protocol), ownReach());
  return found === null ? null : `must lead elsewhere: ${host} ${found}`;
}
const DEPLOYABLE_URL = judged(deployableUrlFault).meta({
  examples: ["https://git.example.com/team/api.git"]
});
const BASE_URL = judged((text) => {
  const fault = webUrlFault(text);
  if (fault !== null) return fault;
  const url = new URL(text);
  const found = hostFault(bareHost(url.hostname), portOf(url), ownReach());
  return found === null ? null : `must lead elsewhere: ${url.hostname} ${found}`;
}).meta(LENGTHS).transform((text) => {
  const url = new URL(text);
  const path = url.pathname.split("/").filter((part) => part !== "");
  return [url.origin, ...path].join("/");
});
const REDIRECT_URI = judged((text) => {
  const fault = webUrlFault(text);
  if (fault !== null) return fault;
  return new URL(text).pathname.endsWith("/git/callback") ? null : "must be the dashboard's page /git/callback";
}).meta(LENGTHS);
function portOf(url) {
  return url.port === "" ? usualPort(url.protocol === "https:" ? "https" : "http") : Number(url.port);
}
function webUrlFault(text) {
  const url = text.length > MAX_URL_CHARACTERS ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return "must be an absolute http or https URL";
  if (url.username !== "" || url.password !== "") return "must not carry credentials";
  return /[?#]/.test(text) ? "must not have a query or fragment" : null;
}

export { BASE_URL as B, DEPLOYABLE_URL as D, REDIRECT_URI as R, deployableUrlFault as d, portOf as p };
