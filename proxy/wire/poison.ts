const POISON = 0xdb
const poisons = process.env.DEPLOYER_PROXY_POISON === '1'

/** In tests, overwrites bytes that must not be used any more, so that using them shows. */
export function poison(bytes: Buffer, start = 0, end = bytes.length): void {
  if (poisons) bytes.fill(POISON, start, end)
}
