/** Below this size a coding is not worth it: its fields and the work at both ends cost as much as it saves. */
export const MIN_COMPRESSED_BYTES = 1024

/** Types in addition to `text/*`, `*+json` and `*+xml` whose content is not compressed already. */
const TYPES: ReadonlySet<string> = new Set([
  'application/dart',
  'application/ecmascript',
  'application/graphql',
  'application/javascript',
  'application/json',
  'application/json-seq',
  'application/ld+json',
  'application/rtf',
  'application/toml',
  'application/vnd.apple.mpegurl',
  'application/vnd.ms-fontobject',
  'application/wasm',
  'application/x-javascript',
  'application/x-ndjson',
  'application/x-sh',
  'application/xml',
  'application/yaml',
  'font/otf',
  'font/ttf',
  'image/bmp',
  'image/vnd.microsoft.icon',
  'image/x-icon',
  'model/gltf-binary',
])

/** Whether compression makes content of this Content-Type much smaller. */
export function gainsByCoding(contentType: string): boolean {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  return type.startsWith('text/') || type.endsWith('+json') || type.endsWith('+xml') || TYPES.has(type)
}
