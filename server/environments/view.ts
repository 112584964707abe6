import { timestamp } from '../clock.ts'
import { viewDefaults } from '../edge/columns.ts'
import { datastoreNames, datastoreNamesByEnvironment } from '../datastores/store.ts'
import { publicUrl } from '../network/public-address.ts'
import { servedDomains } from '../domains/store.ts'
import { placeOf } from '../services/hosts.ts'
import { dnsOf } from './dns.ts'
import type { Environment } from './schema.ts'
import {
  serviceNames,
  serviceNamesByEnvironment,
  listEnvironments,
  type Environment as Row,
} from './store.ts'

/** All environments as the API returns them, production first. */
export function viewEnvironments(): Environment[] {
  const services = serviceNamesByEnvironment()
  const datastores = datastoreNamesByEnvironment()
  return listEnvironments().map((row) => view(row, services.get(row.id) ?? [], datastores.get(row.id) ?? []))
}

/** One environment as the API returns it. */
export function viewEnvironment(row: Row): Environment {
  return view(row, serviceNames(row.id), datastoreNames(row.id))
}

function view(row: Row, services: string[], datastores: string[]): Environment {
  return {
    id: row.id,
    name: row.name,
    created_at: timestamp(row.created_at),
    edge_defaults: viewDefaults(row),
    services,
    datastores,
    url_pattern: publicUrl(`<service>.${placeOf(row, servedDomains()[0]!)}`),
    dns: dnsOf(row),
  }
}
