import { disksOf } from '../disks/list.ts'
import { readName } from '../domains/names.ts'
import { ServicePatch } from '../services/input.ts'
import { USUAL_SECONDS } from '../services/replacement.ts'
import type { ServiceColumns } from '../services/store.ts'
import type { WantedService } from './project.ts'

/** The defaults of fields whose default is not null, false or an empty list. */
const DEFAULTS: Record<string, unknown> = {
  runtime: 'auto',
  instances: 1,
  auto_deploy: true,
  memory_limit_mb: 0,
  cpu_limit: 0,
  backup_retention: 7,
  disk_backup_retention: 7,
  max_shutdown_delay_seconds: USUAL_SECONDS,
  drain_seconds: USUAL_SECONDS,
  overlap_policy: 'wait',
}

/** Fields as the API accepts them: null becomes the field's default. */
export function withDefaults(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, value === null ? defaultOf(field) : value]),
  )
}

/** Whether a field has its default value. */
export function isDefault(field: string, value: unknown): boolean {
  return value === undefined || JSON.stringify(value) === JSON.stringify(defaultOf(field))
}

/** The default of each field that can be set; those that `DEFAULTS` does not name follow from the schema. */
const KNOWN_DEFAULTS = new Map<string, unknown>([
  ...Object.entries(ServicePatch.shape).map(([field, schema]): [string, unknown] => [
    field,
    [null, [], false].find((value) => schema.safeParse(value).success) ?? null,
  ]),
  ...Object.entries(DEFAULTS),
])

function defaultOf(field: string): unknown {
  return KNOWN_DEFAULTS.get(field) ?? null
}

/** The fields as columns, close enough for the rules between fields. */
export function wantedColumns(wanted: WantedService, there: ServiceColumns | undefined): ServiceColumns {
  const { custom_domains, canonical_domain, disks, ...settings } = withDefaults(wanted.fields)
  const made = there ? {} : { runtime: 'auto' as const, instances: 1, custom_domains: '[]' }
  const losesFirst = settings.disk_mount_path === null && there?.disks !== undefined
  const listed = disks ?? (losesFirst ? disksOf({ disks: there.disks! }).slice(1) : undefined)
  return {
    ...made,
    ...settings,
    // The rules then look at the list.
    ...(listed === undefined ? {} : { disks: JSON.stringify(listed), disk_mount_path: null }),
    ...(custom_domains === undefined
      ? {}
      : { custom_domains: JSON.stringify((custom_domains as string[]).map(normalOrSame)) }),
    ...(canonical_domain === undefined
      ? {}
      : { canonical_domain: typeof canonical_domain === 'string' ? normalOrSame(canonical_domain) : null }),
  }
}

/** A host in its normalized form; an invalid one is reported when it is applied. */
function normalOrSame(text: string): string {
  const read = readName(text)
  return 'name' in read ? read.name : text
}
