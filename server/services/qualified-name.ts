import { PRODUCTION } from '../environments/production.ts'
import type { Environment } from '../environments/store.ts'

/** A name that is unique over all environments: `api` in production, `api.staging` elsewhere. */
export function qualifiedName(name: string, environment: Pick<Environment, 'name'>): string {
  return environment.name === PRODUCTION ? name : `${name}.${environment.name}`
}
