import { readFileSync } from 'node:fs'
import { AppError, messageOf } from '../errors.ts'

/** The requirements for a secret. One with few characters could be guessed, or derived from what it signed. */
export interface SecretForm {
  pattern: RegExp
  wanted: string
}

/** A token must fit into a header. */
export const TOKEN_FORM: SecretForm = {
  pattern: /^[!-~]{16,256}$/,
  wanted: '16 to 256 visible ASCII characters',
}
export const WEBHOOK_SECRET_FORM: SecretForm = {
  pattern: /^\P{Cc}{16,256}$/u,
  wanted: '16 to 256 characters on one line',
}
/** Its issuer decided on its length. */
export const S3_KEY_FORM: SecretForm = {
  pattern: /^[!-~]{1,256}$/,
  wanted: '1 to 256 visible ASCII characters',
}

/** A URL for nodemailer, which may contain a password. */
export const SMTP_URL_FORM: SecretForm = {
  pattern: /^smtps?:\/\/[!-~]+$/,
  wanted: 'a URL such as smtp://user:password@mail.example.com:587',
}

/** Long enough that guessing one is hopeless, since whoever has a backup can guess as often as they like. */
const PASSPHRASE_FORM: SecretForm = {
  pattern: /^\P{Cc}{12,1024}$/u,
  wanted: '12 to 1024 characters on one line',
}

/** A secret from a flag or its variable; `title` names these in messages. */
interface Given {
  title: string
  value: string | null
}

/**
 * The secret from the given file, or the one given directly; null when there is neither. Throws `invalid_request`, which
 * never repeats the secret.
 */
export function readSecret(plain: Given, file: Given, { pattern, wanted }: SecretForm): string | null {
  const { title, value } =
    file.value === null ? plain : { title: file.title, value: readFile(file.title, file.value) }
  if (value === null || pattern.test(value)) return value
  throw new AppError('invalid_request', `${title} must ${file.value === null ? 'be' : 'contain'} ${wanted}`)
}

/** The passphrase in a file, of which a newline at the end is not a part. Throws `invalid_request`, which never repeats it. */
export function readPassphrase(title: string, path: string): string {
  const passphrase = readText(title, path).replace(/\r?\n$/, '')
  if (PASSPHRASE_FORM.pattern.test(passphrase)) return passphrase
  throw new AppError('invalid_request', `${title} must contain ${PASSPHRASE_FORM.wanted}`)
}

function readFile(title: string, path: string): string {
  return readText(title, path).trim()
}

function readText(title: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new AppError('invalid_request', `${title} cannot be read: ${messageOf(cause)}`, { cause })
  }
}
