/** How often a property is tried: so often in `npm test -- --all`, a third as often in the first tier. */
export function runs(inAll: number): number {
  return process.env.TEST_TIER === 'first' ? Math.ceil(inAll / 3) : inAll
}
