import { stringify } from 'yaml'

/** Writes a native file that an editor knows the schema of. `origin` is where the server is reached. */
export function writeNative(file: Record<string, unknown>, origin: string): string {
  // No line is folded: a value is easier to compare on one.
  const text = stringify(file, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.2' })
  return `# yaml-language-server: $schema=${origin}/api/blueprint.schema.json\n${text}`
}
