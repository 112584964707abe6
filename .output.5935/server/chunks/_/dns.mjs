import { i as isLocalName } from './names.mjs';
import { a as addressRecords } from './records.mjs';
import { l as listDomains } from './store4.mjs';
import { p as placeOf } from './hosts.mjs';

function dnsOf(environment) {
  return listDomains().filter(({ name }) => !isLocalName(name)).map(({ name }) => {
    const wildcard = `*.${placeOf(environment, name)}`;
    return { domain: name, wildcard, records: addressRecords(wildcard, true) };
  });
}

export { dnsOf as d };
