import { crypto } from '../modules.ts'

const ID_CHARACTERS = 32
/** How many requests one call for random bytes serves. */
const IDS_AT_ONCE = 256

let pool = ''
let at = 0

/** Returns a request id of 32 random hexadecimal characters. */
export function makeRequestId(): string {
  if (at >= pool.length) {
    pool = crypto()
      .randomBytes((IDS_AT_ONCE * ID_CHARACTERS) / 2)
      .toString('hex')
    at = 0
  }
  at += ID_CHARACTERS
  return pool.slice(at - ID_CHARACTERS, at)
}
