import { I as timestamp } from '../nitro/nitro.mjs';
import { b as publicUrl } from './public-address.mjs';
import { i as isLocalName } from './names.mjs';
import { d as domainRecords } from './records.mjs';
import { h as isServed } from './store4.mjs';

function viewDomain(row) {
  const local = isLocalName(row.name);
  return {
    id: row.id,
    name: row.name,
    source: row.source,
    status: row.status,
    is_default: row.is_default === 1,
    local,
    served: isServed(row),
    url_pattern: publicUrl(`<service>.${row.name}`),
    records: local ? [] : domainRecords(row.name),
    checks: JSON.parse(row.checks),
    created_at: timestamp(row.created_at),
    checked_at: timestamp(row.checked_at),
    verified_at: timestamp(row.verified_at)
  };
}

export { viewDomain as v };
