import { readFileSync } from 'node:fs'
import { AppError, messageOf } from '../errors.ts'

/** What a secret must be. One of few characters could be guessed, or found from what it signed. */
export interface SecretForm {
  pattern: RegExp
  wanted: string
}

/** What can stand in a header. */
export const TOKEN_FORM: SecretForm = {
  pattern: /^[!-~]{16,256}$/,
  wanted: '16 to 256 visible ASCII characters',
}
export const WEBHOOK_SECRET_FORM: SecretForm = {
  pattern: /^\P{Cc}{16,256}$/u,
  wanted: '16 to 256 characters on one line',
}
/** Who gave it out decided how long it is. */
export const S3_KEY_FORM: SecretForm = {
  pattern: /^[!-~]{1,256}$/,
  wanted: '1 to 256 visible ASCII characters',
}

/** What nodemailer takes; it may have a password in it. */
export const SMTP_URL_FORM: SecretForm = {
  pattern: /^smtps?:\/\/[!-~]+$/,
  wanted: 'a URL such as smtp://user:password@mail.example.com:587',
}

/** A secret as a flag or its variable gives it; `title` names these to people. */
interface Given {
  title: string
  value: string | null
}

/**
 * The secret in the file that is named, else the one that was given itself; null without either.
 * Throws `invalid_request`, which never repeats the secret.
 */
export function readSecret(plain: Given, file: Given, { pattern, wanted }: SecretForm): string | null {
  const { title, value } =
    file.value === null ? plain : { title: file.title, value: readFile(file.title, file.value) }
  if (value === null || pattern.test(value)) return value
  throw new AppError('invalid_request', `${title} must ${file.value === null ? 'be' : 'hold'} ${wanted}`)
}

function readFile(title: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw new AppError('invalid_request', `${title} cannot be read: ${messageOf(cause)}`, { cause })
  }
}
