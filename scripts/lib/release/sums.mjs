import { createHash, createPrivateKey, createPublicKey, sign as signBytes } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../say.mjs'

/**
 * What `sha256sum` prints about files of a folder, sorted by name.
 *
 * @param {string} folder
 * @param {string[]} names
 */
export async function sumsOf(folder, names) {
  const lines = []
  for (const name of [...names].sort()) lines.push(`${await sumOf(join(folder, name))}  ${name}\n`)
  return lines.join('')
}

/** @param {string} file */
async function sumOf(file) {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece)
  return hash.digest('hex')
}

/**
 * The key that signs releases.
 *
 * @param {string} file PEM
 */
export function readSignKey(file) {
  let key
  try {
    key = createPrivateKey(readFileSync(file))
  } catch (error) {
    throw new Refusal(`--sign-key ${file}: ${/** @type {Error} */ (error).message}`)
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Refusal(
      `--sign-key ${file}: it is a key of ${key.asymmetricKeyType}; make one with openssl genpkey -algorithm ed25519`,
    )
  return key
}

/**
 * @param {import('node:crypto').KeyObject} key
 * @returns {string} PEM
 */
export function publicKeyOf(key) {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' })
}

/**
 * The Ed25519 signature of a text (RFC 8032), in base64 and with a line end.
 *
 * @param {string} text
 * @param {import('node:crypto').KeyObject} key
 */
export function sign(text, key) {
  return `${signBytes(null, Buffer.from(text), key).toString('base64')}\n`
}
