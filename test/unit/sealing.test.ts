import { randomBytes } from 'node:crypto'
import { Decrypter, Encrypter } from 'age-encryption'
import { beforeAll, describe, expect, it } from 'vitest'
import { seal, unseal } from '#server/backups/sealing.ts'

const PASSPHRASE = 'correct horse battery'
/** More than one of age's chunks of 64 KiB, and a part of one. */
const CONTENT = randomBytes(200_000)

describe('a sealed stream', () => {
  /** Sealed once, since the work of a passphrase takes a third of a second. */
  let sealed: Buffer
  beforeAll(async () => {
    sealed = await bytesOf(seal(inPieces(CONTENT, 1_000), PASSPHRASE))
  })

  it('is opened with its passphrase', async () => {
    expect(sealed.toString('latin1')).toMatch(/^age-encryption\.org\/v1\n-> scrypt \S{22} 17\n/)
    expect((await bytesOf(unseal(inPieces(sealed, 777), PASSPHRASE))).equals(CONTENT)).toBe(true)
  })

  it('is what age itself reads and writes', async () => {
    const decrypter = new Decrypter()
    decrypter.addPassphrase(PASSPHRASE)
    expect(Buffer.from(await decrypter.decrypt(sealed)).equals(CONTENT)).toBe(true)

    const encrypter = new Encrypter()
    encrypter.setScryptWorkFactor(10)
    encrypter.setPassphrase(PASSPHRASE)
    const byAge = await encrypter.encrypt(CONTENT)
    expect((await bytesOf(unseal(inPieces(byAge, 5_000), PASSPHRASE))).equals(CONTENT)).toBe(true)
  })

  it('of nothing is opened too', async () => {
    const sealed = await bytesOf(seal(inPieces(Buffer.alloc(0), 1), PASSPHRASE))
    expect(await bytesOf(unseal(inPieces(sealed, 100), PASSPHRASE))).toHaveLength(0)
  })

  it('is refused with another passphrase, cut short, changed, or when it is something else', async () => {
    const opened = (bytes: Buffer, passphrase = PASSPHRASE) =>
      bytesOf(unseal(inPieces(bytes, 64 * 1024), passphrase))
    await expect(opened(sealed, 'another passphrase')).rejects.toThrow('the passphrase is wrong')
    await expect(opened(sealed.subarray(0, -1))).rejects.toThrow('damaged or incomplete')
    // Exactly at the end of a chunk.
    const header = sealed.length - CONTENT.length - 4 * 16
    await expect(opened(sealed.subarray(0, header + 65_552))).rejects.toThrow('damaged or incomplete')
    const changed = Buffer.from(sealed)
    changed[changed.length - 100]! ^= 1
    await expect(opened(changed)).rejects.toThrow('damaged or incomplete')
    await expect(opened(Buffer.from('something else'))).rejects.toMatchObject({ code: 'io_error' })
    await expect(opened(Buffer.alloc(0))).rejects.toMatchObject({ code: 'io_error' })
  })

  it('that asks for all memory there is is refused', async () => {
    const text = sealed.toString('latin1')
    const greedy = Buffer.from(text.replace(/(-> scrypt \S{22}) 17\n/, '$1 40\n'), 'latin1')
    await expect(bytesOf(unseal(inPieces(greedy, 1_000), PASSPHRASE))).rejects.toThrow('asks for more work')
  })

  it('fails with what its source fails with', async () => {
    const failing = async function* () {
      yield Buffer.from('age-encryption.org/v1\n')
      throw new Error('the disk is gone')
    }
    await expect(bytesOf(unseal(failing(), PASSPHRASE))).rejects.toThrow('the disk is gone')
    await expect(bytesOf(seal(failing(), PASSPHRASE))).rejects.toThrow('the disk is gone')
  })
})

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}
