import { authorityCertificate } from '../datastores/authority.ts'
import { KINDS, supportsTls } from '../datastores/kinds.ts'
import { getDatastoreByName, type DatastoreRow } from '../datastores/store.ts'
import { internalPlace } from '../datastores/view.ts'
import { getDeploy } from '../deploys/store.ts'
import type { Environment } from '../environments/store.ts'
import { publicUrl } from '../network/public-address.ts'
import { hostsOf } from '../services/hosts.ts'
import { internalPort } from '../services/ports.ts'
import { getServiceByName, type ServiceRow } from '../services/store.ts'
import { TYPES } from '../services/types.ts'
import type { TargetKind } from './references.ts'

/** Something that a reference names. */
export interface Target {
  /** The name used in messages. */
  label: string
  /** The value of a property; null when it does not have this one. */
  property(name: string): string | null
  /** The service whose own variables `env.KEY` refers to; null when there is none. */
  service: ServiceRow | null
}

type Find = (environment: Environment, name: string) => Target | null

/** How to find each kind by name; null for an unknown name. Add another kind of target here. */
const FINDERS: Record<TargetKind, Find> = {
  service: findService,
  datastore: findDatastore,
}

/** The target of a reference inside an environment; null when there is none with that name. */
export function findTarget(kind: TargetKind, environment: Environment, name: string): Target | null {
  return FINDERS[kind](environment, name)
}

function findService(environment: Environment, name: string): Target | null {
  const service = getServiceByName(environment.id, name)
  if (!service || service.deleting) return null
  return {
    label: TYPES[service.type].label,
    property: (property) => serviceProperty(service, environment, property),
    service,
  }
}

function findDatastore(environment: Environment, name: string): Target | null {
  const datastore = getDatastoreByName(environment.id, name)
  if (!datastore || datastore.status === 'deleting') return null
  return {
    label: KINDS[datastore.kind].label,
    property: (property) => datastoreProperty(datastore, property),
    service: null,
  }
}

function datastoreProperty(datastore: DatastoreRow, property: string): string | null {
  // Also before its first start, since a service may be saved, and even deployed, before that.
  if (property === 'ca_certificate') return supportsTls(datastore) ? authorityCertificate() : null
  const place = internalPlace(datastore)
  if (property === 'url') return KINDS[datastore.kind].url(place)
  const value = place[property as keyof typeof place]
  return value === null ? null : String(value)
}

function serviceProperty(service: ServiceRow, environment: Environment, property: string): string | null {
  if (property === 'url') {
    const host = hostsOf(service, environment)[0]
    return host === undefined ? null : publicUrl(host)
  }
  if (!TYPES[service.type].listens) return null
  if (property === 'host') return service.name
  const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
  const port = String(internalPort(service, live?.port))
  return property === 'port' ? port : `${service.name}:${port}`
}
