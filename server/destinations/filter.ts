import { findEnvironment } from '../environments/store.ts'
import { findService } from '../services/operations.ts'

/** Filter by environment and services, as in requests. */
export interface FilterInput {
  environment?: string | null | undefined
  services?: string[] | null | undefined
}

interface FilterColumns {
  environment_id?: string | null
  services?: string | null
}

/**
 * The columns for the parts of a filter that were given. `present` is the environment of a destination that is changed, in
 * which service names are looked up when the change gives no other. Throws `not_found`.
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

/** An id determines its environment itself. */
function environmentOf(service: string, environment: string | null): string | undefined {
  return /^srv-[0-9a-f]{20}$/.test(service) ? undefined : (environment ?? undefined)
}
