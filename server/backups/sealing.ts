import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { promisify } from 'node:util'
import { Decrypter, Encrypter, Stanza, type Identity, type Recipient } from 'age-encryption'
import { AppError, messageOf } from '../errors.ts'

/** How much work a guess at a passphrase takes, as a power of two: 128 MiB of memory for a third of a second. */
const WORK = 17
/** The most work that a file may ask for, 1 GiB of memory: else a foreign file could take all there is. */
const MAX_WORK = 20
const BLOCK_SIZE = 8
const SALT_BYTES = 16
const KEY_BYTES = 32
const TAG_BYTES = 16
/** A passphrase makes a key for one file key only, so that there is no second nonce (C2SP age, "scrypt"). */
const NONCE = Buffer.alloc(12)
const LABEL = 'age-encryption.org/v1/scrypt'

const deriveKey = promisify<string, Uint8Array, number, { N: number; r: number; maxmem: number }, Buffer>(
  scrypt,
)

/** How every file of age begins, by which sealed files are known. */
export const SEALED_MAGIC = Buffer.from('age-encryption.org/v1\n')

/** Seals a stream with a passphrase, as `age --passphrase` does: any program of age opens it. Nothing is held in memory. */
export async function* seal(
  stream: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Buffer, void> {
  const encrypter = new Encrypter()
  encrypter.addRecipient(recipientOf(passphrase))
  yield* piecesOf(await encrypter.encrypt(webStream(stream)))
}

/** Opens what `seal` or another program of age sealed. Throws `io_error` for a wrong passphrase or a damaged file. */
export async function* unseal(
  stream: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Buffer, void> {
  const decrypter = new Decrypter()
  decrypter.addIdentity(identityOf(passphrase))
  // What the source itself throws is no fault of the file.
  let ofSource: Error | undefined
  const source = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      yield* stream
    } catch (error) {
      ofSource = error as Error
      throw error
    }
  }
  try {
    yield* piecesOf(await decrypter.decrypt(webStream(source())))
  } catch (cause) {
    if (ofSource) throw ofSource
    if (cause instanceof AppError) throw cause
    throw readable(cause)
  }
}

/** Thrown for a sealed file that is not what was written. */
export class DamagedSeal extends AppError {}

function readable(cause: unknown): AppError {
  const message = messageOf(cause)
  if (message.includes('no identity matched'))
    return new AppError('io_error', 'the passphrase is wrong, or the file was not sealed with a passphrase', {
      cause,
    })
  return new DamagedSeal('io_error', `the sealed file is damaged or incomplete (${message})`, { cause })
}

/** The packages' own scrypt would hold up everything else for a second. */
function recipientOf(passphrase: string): Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(SALT_BYTES)
      const key = await keyOf(passphrase, salt, WORK)
      const cipher = createCipheriv('chacha20-poly1305', key, NONCE, { authTagLength: TAG_BYTES })
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()])
      return [new Stanza(['scrypt', unpadded(salt), String(WORK)], body)]
    },
  }
}

function identityOf(passphrase: string): Identity {
  return {
    async unwrapFileKey(stanzas) {
      // A file with several recipients was not sealed with a passphrase.
      const [stanza, ...others] = stanzas
      if (stanza?.args[0] !== 'scrypt' || others.length > 0) return null
      const salt = Buffer.from(stanza.args[1] ?? '', 'base64')
      const work = Number(stanza.args[2])
      if (!Number.isInteger(work) || work < 1 || work > MAX_WORK)
        throw new AppError('io_error', `the file asks for more work than 2^${MAX_WORK} to open it`)
      if (salt.length !== SALT_BYTES || stanza.body.length !== KEY_BYTES) throw new Error('invalid header')
      const key = await keyOf(passphrase, salt, work)
      const decipher = createDecipheriv('chacha20-poly1305', key, NONCE, { authTagLength: TAG_BYTES })
      decipher.setAuthTag(stanza.body.subarray(-TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(stanza.body.subarray(0, -TAG_BYTES)), decipher.final()])
      } catch {
        return null
      }
    },
  }
}

function keyOf(passphrase: string, salt: Uint8Array, work: number): Promise<Buffer> {
  const N = 2 ** work
  // Node refuses more memory than it is told to expect.
  const maxmem = 2 * 128 * N * BLOCK_SIZE
  return deriveKey(passphrase, Buffer.concat([Buffer.from(LABEL), salt]), KEY_BYTES, {
    N,
    r: BLOCK_SIZE,
    maxmem,
  })
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

function webStream(stream: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(stream, { objectMode: false })) as ReadableStream<Uint8Array>
}

async function* piecesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  for await (const piece of stream) yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}
