import { findEnvironment } from '../environments/store.ts'
import { findService } from '../services/operations.ts'

/** Whose doings are wanted, as requests say it. */
export interface FilterInput {
  environment?: string | null | undefined
  services?: string[] | null | undefined
}

interface FilterColumns {
  environment_id?: string | null
  services?: string | null
}

/**
 * The columns of a filter by environment and services, as far as it was given. `present` is the environment of one that is
 * changed, in which names of services are looked up when the change names no other. Throws `not_found`.
 */
export function filterColumns(
  { environment, services }: FilterInput,
  present: string | null = null,
): FilterColumns {
  const place = environment === undefined ? present : environment
  return {
    ...(environment === undefined
      ? {}
      : { environment_id: environment === null ? null : findEnvironment(environment).id }),
    ...(services === undefined
      ? {}
      : {
          services:
            services === null
              ? null
              : JSON.stringify([
                  ...new Set(
                    services.map((service) => findService(service, environmentOf(service, place)).id),
                  ),
                ]),
        }),
  }
}

/** An id tells its environment itself. */
function environmentOf(service: string, environment: string | null): string | undefined {
  return /^srv-[0-9a-f]{20}$/.test(service) ? undefined : (environment ?? undefined)
}
