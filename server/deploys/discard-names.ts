import type { Comparison, DiscardInput } from './comparison-schema.ts'

/** What a discard names, to discard these differences and nothing that is saved meanwhile. The dashboard uses it, too. */
export function discardNames({ settings, variables, secret_files, groups }: Comparison): DiscardInput {
  return {
    settings: settings.map(({ field }) => field),
    variables: variables.map(({ key }) => key),
    secret_files: secret_files.map(({ name }) => name),
    groups: groups.flatMap(({ name }) => name ?? []),
  }
}
