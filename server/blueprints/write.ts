import { stringify } from 'yaml'

/** Writes a native file whose first line points editors to its schema. `origin` is the server's address. */
export function writeNative(file: Record<string, unknown>, origin: string): string {
  // Lines are not folded: a value is easier to compare on one line.
  const text = stringify(file, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.2' })
  return `# yaml-language-server: $schema=${origin}/api/blueprint.schema.json\n${text}`
}
