/** A coding of a file that lies beside it, by what it adds to the name. The best comes first. */
export const CODINGS = [
  { suffix: '.br', coding: 'br' },
  { suffix: '.zst', coding: 'zstd' },
  { suffix: '.gz', coding: 'gzip' },
] as const

/** The name of a content coding (RFC 9110 8.4.1, RFC 7932, RFC 8878); `null` is the file as it is. */
export type Coding = (typeof CODINGS)[number]['coding'] | null

/** Browsers send 30 characters; more would be work for nothing. */
const MAX_ACCEPT_CHARACTERS = 1_024

/**
 * Which of the codings that are there an Accept-Encoding value prefers (RFC 9110 12.5.3); of equals the first of
 * `available`. The file as it is, when nothing else is wanted or there is no value.
 */
export function chooseCoding(accept: string | null, available: readonly Coding[]): Coding {
  if (accept === null || accept.length > MAX_ACCEPT_CHARACTERS || available.length === 0) return null
  const weights = weightsOf(accept)
  let best: Coding = null
  // Not listed, the file as it is comes last of what is acceptable; listed, it competes by its weight.
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
