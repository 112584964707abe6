import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { J as useContext } from '../nitro/nitro.mjs';

const OWN_ALONE = new BlockList();
OWN_ALONE.addSubnet("127.0.0.0", 8);
OWN_ALONE.addSubnet("169.254.0.0", 16);
OWN_ALONE.addAddress("::1", "ipv6");
OWN_ALONE.addSubnet("fe80::", 10, "ipv6");
const isPublicV6 = (address) => isIP(address) === 6 && /^[23]/.test(address);
function addressRecords(name, required) {
  return shownAddresses().map((value) => {
    const isV4 = isIP(value) === 4;
    return { name, type: isV4 ? "A" : "AAAA", value, required: required && isV4 };
  });
}
function domainRecords(domain) {
  return [...addressRecords(`*.${domain}`, true), ...addressRecords(domain, false)];
}
function isServerAddress(address) {
  if (useContext().options.publicIps.includes(address)) return true;
  return interfaceAddresses().includes(address);
}
function shownAddresses() {
  const { publicIps } = useContext().options;
  if (publicIps.length > 0) return publicIps;
  const leading = (networkInterfaces()[defaultInterface() ?? ""] ?? []).map(({ address }) => address);
  const all = [...leading, ...interfaceAddresses()];
  const v4 = all.find((address) => isIP(address) === 4 && !OWN_ALONE.check(address));
  return [v4, all.find(isPublicV6)].filter((address) => address !== void 0);
}
function interfaceAddresses() {
  return Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []).filter(({ address, family }) => !OWN_ALONE.check(address, family === "IPv6" ? "ipv6" : "ipv4")).map(({ address }) => address);
}
function defaultInterface() {
  try {
    const routes = readFileSync("/proc/net/route", "latin1").split("\n").slice(1);
    const columns = routes.map((route) => route.split("	"));
    return columns.find(
      ([, destination, , , , , , mask]) => destination === "00000000" && mask === "00000000"
    )?.[0] ?? null;
  } catch {
    return null;
  }
}

export { addressRecords as a, domainRecords as d, isServerAddress as i };
