import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** WebAuthn section 6.1: user present, user verified, attested credential data. */
const PRESENT = 0x01
const VERIFIED = 0x04
const WITH_CREDENTIAL = 0x40

interface Options {
  challenge: string
  rpId?: string
  rp?: { id: string }
}

/** What a test changes of an honest answer. */
interface Lie {
  origin?: string
  host?: string
  isVerified?: boolean
  counter?: number
  crossOrigin?: boolean
  challenge?: string
}

/** An authenticator in software, with one passkey (ECDSA on P-256). */
export class Authenticator {
  readonly id = randomBytes(16).toString('base64url')
  readonly #origin: string
  readonly #privateKey: KeyObject
  readonly #publicKey: KeyObject
  #counter = 0

  /** `origin` is that of the page which uses it. */
  constructor(origin: string) {
    this.#origin = origin
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#privateKey = privateKey
    this.#publicKey = publicKey
  }

  /** Answers options for `register`. */
  create({ challenge, rp }: Options, lie: Lie = {}) {
    const id = Buffer.from(this.id, 'base64url')
    const length = Buffer.from([0, id.length])
    const credential = Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey()])
    const data = Buffer.concat([this.#data(rp!.id, WITH_CREDENTIAL, lie), credential])
    const attestation = map([
      [text('fmt'), text('none')],
      [text('attStmt'), map([])],
      [text('authData'), bytes(data)],
    ])
    return {
      id: this.id,
      type: 'public-key',
      response: {
        clientDataJSON: this.#clientData('webauthn.create', challenge, lie).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
      },
    }
  }

  /** Answers options for `sign_in`. */
  use({ challenge, rpId }: Options, lie: Lie = {}) {
    this.#counter++
    const data = this.#data(rpId!, 0, lie)
    const clientData = this.#clientData('webauthn.get', challenge, lie)
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()])
    return {
      id: this.id,
      type: 'public-key',
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', signed, this.#privateKey).toString('base64url'),
      },
    }
  }

  #data(host: string, flags: number, { host: other = host, isVerified = true, counter }: Lie): Buffer {
    const head = Buffer.alloc(5)
    head.writeUInt8(PRESENT | (isVerified ? VERIFIED : 0) | flags)
    head.writeUInt32BE(counter ?? this.#counter, 1)
    return Buffer.concat([createHash('sha256').update(other).digest(), head])
  }

  #clientData(type: string, given: string, lie: Lie): Buffer {
    const { origin = this.#origin, challenge = given, crossOrigin = false } = lie
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }))
  }

  /** RFC 9053 section 7.1.1: EC2, ES256, P-256. */
  #coseKey(): Buffer {
    const { x, y } = this.#publicKey.export({ format: 'jwk' })
    return map([
      [number(1), number(2)],
      [number(3), number(-7)],
      [number(-1), number(1)],
      [number(-2), bytes(Buffer.from(x!, 'base64url'))],
      [number(-3), bytes(Buffer.from(y!, 'base64url'))],
    ])
  }
}

/** CBOR (RFC 8949) as far as it is needed here, each length in its shortest form. */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff])
}

const number = (value: number) => (value < 0 ? head(1, -1 - value) : head(0, value))
const bytes = (value: Buffer) => Buffer.concat([head(2, value.length), value])
const text = (value: string) => Buffer.concat([head(3, value.length), Buffer.from(value)])
const map = (entries: [Buffer, Buffer][]) => Buffer.concat([head(5, entries.length), ...entries.flat()])
