import { isIPv6, BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

const NEVER = blockList([
  "0.0.0.0/8",
  "169.254.0.0/16",
  "168.63.129.16/32",
  "100.100.100.200/32",
  "192.0.0.192/32",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/128",
  "fe80::/10",
  "ff00::/8",
  "fd00:ec2::/32",
  "fd00:c1::a9fe:a9fe/128",
  "fd00:42::42/128",
  "fd20:ce::254/128"
]);
const METADATA_NAMES = ["metadata.google.internal", "metadata.goog", "instance-data"];
const PRIVATE = blockList([
  "127.0.0.0/8",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "192.0.0.0/24",
  "198.18.0.0/15",
  "::1/128",
  "fc00::/7",
  "fec0::/10"
]);
function addressFault(address, port, reach) {
  const plain = carried(address.split("%", 1)[0]);
  const family = isIPv6(plain) ? "ipv6" : "ipv4";
  if (NEVER.check(plain, family)) return "is a link-local, metadata or reserved address, which is never asked";
  if (port === reach.ownPort && isOwn(plain)) return "is this server's own API, which is never asked";
  if (reach.denyPrivate && PRIVATE.check(plain, family))
    return "is a private address, which this server may not reach (--deny-private-git)";
  return null;
}
function hostFault(host, port, reach) {
  if (isIP(host) !== 0) return addressFault(host, port, reach);
  const isMetadata = METADATA_NAMES.includes(host.toLowerCase().replace(/\.$/, ""));
  return isMetadata ? "is a metadata service, which is never asked" : null;
}
function isPublicAddress(address) {
  const plain = carried(address);
  const family = isIPv6(plain) ? "ipv6" : "ipv4";
  return !NEVER.check(plain, family) && !PRIVATE.check(plain, family);
}
function carried(address) {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 65535;
  const isTranslated = groups[0] === 100 && groups[1] === 65435;
  const pair = isMapped || isTranslated ? groups.slice(6) : groups[0] === 8194 ? groups.slice(1, 3) : null;
  return pair === null ? address : pair.flatMap((group) => [group >> 8, group & 255]).join(".");
}
function groupsOf(address) {
  const normal = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [start = [], end = []] = normal.split("::").map((part) => part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  return [...start, ...Array(8 - start.length - end.length).fill(0), ...end];
}
function isOwn(address) {
  if (address.startsWith("127.") || address === "::1") return true;
  return Object.values(networkInterfaces()).some(
    (entries) => entries?.some((entry) => entry.address === address)
  );
}
function blockList(networks) {
  const list = new BlockList();
  for (const network of networks) {
    const [address, prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), isIPv6(address) ? "ipv6" : "ipv4");
  }
  return list;
}

export { addressFault as a, hostFault as h, isPublicAddress as i };
