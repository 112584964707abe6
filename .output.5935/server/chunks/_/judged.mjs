import { lookup } from 'node:dns';
import { connect } from 'node:net';
import { b as bareHost } from './bare-host.mjs';
import { J as useContext } from '../nitro/nitro.mjs';
import { h as hostFault, a as addressFault } from './addresses.mjs';

class ForbiddenPlace extends Error {
  name = "ForbiddenPlace";
}
const TARGETS = { denyPrivate: false, ownPort: null };
function ownReach() {
  const { options } = useContext();
  return { denyPrivate: options.denyPrivateGit, ownPort: options.listen.port };
}
function connectJudged(host, port, reach) {
  assertPlace(host, port, reach);
  return connect({ host, port, lookup: judgedLookup(port, reach) });
}
async function resolveJudged(host, port, reach) {
  assertPlace(host, port, reach);
  return await new Promise(
    (resolve, reject) => judgedLookup(port, reach)(
      host,
      {},
      (error, address) => error ? reject(error) : resolve(address)
    )
  );
}
function assertPlace(host, port, reach) {
  const fault = placeFault(host, port, reach);
  if (fault !== null) throw new ForbiddenPlace(fault);
}
function placeFault(host, port, reach) {
  const fault = hostFault(bareHost(host), port, reach);
  return fault === null ? null : `${host} ${fault}`;
}
function judgedLookup(port, reach) {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const fault = firstFault(addresses, port, reach);
      if (fault !== null) return callback(new ForbiddenPlace(`${host} ${fault}`), []);
      if (options.all) callback(null, addresses);
      else callback(null, addresses[0].address, addresses[0].family);
    });
  };
}
function firstFault(addresses, port, reach) {
  for (const { address } of addresses) {
    const fault = addressFault(address, port, reach);
    if (fault !== null) return `leads to ${address}, which ${fault}`;
  }
  return null;
}

export { ForbiddenPlace as F, TARGETS as T, assertPlace as a, connectJudged as c, judgedLookup as j, ownReach as o, placeFault as p, resolveJudged as r };
