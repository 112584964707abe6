const POISON = 0xdb
const poisons = process.env.DEPLOYER_PROXY_POISON === '1'

/** In tests, writes over bytes that are of no use any more, so that a use of them shows. */
export function poison(bytes: Buffer, start = 0, end = bytes.length): void {
  if (poisons) bytes.fill(POISON, start, end)
}
