/** The codings of the files next to an original, by the suffix of their name. The best comes first. */
export const CODINGS = [
  { suffix: '.br', coding: 'br' },
  { suffix: '.zst', coding: 'zstd' },
  { suffix: '.gz', coding: 'gzip' },
] as const

/** The name of a content coding (RFC 9110 8.4.1, RFC 7932, RFC 8878); `null` is the unencoded file. */
export type Coding = (typeof CODINGS)[number]['coding'] | null

/** Browsers send 30 characters; a much longer value is not worth parsing. */
const MAX_ACCEPT_CHARACTERS = 1_024

/**
 * Returns the coding in `available` that an Accept-Encoding value prefers (RFC 9110 12.5.3); the first one wins a tie.
 * Returns null, the unencoded file, when there is no value or it accepts none of them.
 */
export function chooseCoding(accept: string | null, available: readonly Coding[]): Coding {
  if (accept === null || accept.length > MAX_ACCEPT_CHARACTERS || available.length === 0) return null
  const weights = weightsOf(accept)
  let best: Coding = null
  // An unlisted identity is the last resort; a listed one competes by its weight.
  let bestWeight = weights.get('identity') ?? 0
  for (const coding of available) {
    const weight = weights.get(coding!) ?? weights.get('*') ?? 0
    if (weight > bestWeight || (weight === bestWeight && weight > 0 && best === null)) {
      best = coding
      bestWeight = weight
    }
  }
  return best
}

function weightsOf(accept: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    const coding = name === 'x-gzip' ? 'gzip' : name
    if (coding !== '')
      weights.set(coding, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0)
  }
  return weights
}
