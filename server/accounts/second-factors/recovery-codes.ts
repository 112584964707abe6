import type { Database } from '../../database/index.ts'
import { takeRandom } from '../../random.ts'
import { sha256 } from '../../secrets.ts'
import { deleteRecoveryCode, writeRecoveryCodes } from './store.ts'

const CODES = 10
/** 80 bits: too many to guess, also from a stolen copy of the hashes, so that no slow hash is needed. */
const GROUPS = 4
const GROUP_CHARACTERS = 4
/** Crockford's base32: without i, l, o and u, which look like others or make words. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Replaces the recovery codes in the caller's transaction. Returns the new ones, which are stored only as hashes. */
export function renewRecoveryCodes(database: Database): string[] {
  const codes = Array.from({ length: CODES }, newCode)
  writeRecoveryCodes(database, codes.map(hashOf))
  return codes
}

/** Uses up a recovery code in the caller's transaction. Returns false if it is none, or was used before. */
export function useRecoveryCode(database: Database, code: string): boolean {
  return deleteRecoveryCode(database, hashOf(code))
}

/** Hashes what remains when people have typed it in their own way. */
function hashOf(code: string): string {
  return sha256(code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll(/[il]/g, '1').replaceAll('o', '0'))
}

function newCode(): string {
  const characters = [...takeRandom(GROUPS * GROUP_CHARACTERS)].map(
    (byte) => ALPHABET[byte % ALPHABET.length]!,
  )
  return Array.from({ length: GROUPS }, (_, group) =>
    characters.slice(group * GROUP_CHARACTERS, (group + 1) * GROUP_CHARACTERS).join(''),
  ).join('-')
}
