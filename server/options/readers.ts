import { bad, FLAGS, title, type FlagName, type parseFlags, type SecretFlag } from './flags.ts'
import { readSecret, type SecretForm } from './secrets.ts'

/** What reads the value of a flag, or of its variable, in one of a few forms. Each throws `invalid_request`. */
export interface Readers {
  /** Null when it is not set, or empty. */
  text: (name: FlagName) => string | null
  number: (name: FlagName, fallback: number, min: number, max?: number) => number
  /** A whole number, by default at least 1. */
  count: (name: FlagName, fallback: number, min?: number, max?: number) => number
  /** A secret, which may be in a file that another flag names. */
  secret: (name: SecretFlag | 'backup-s3-key', form: SecretForm) => string | null
}

/** Returns the readers of these flags and variables; a flag wins. */
export function readersOf(flags: ReturnType<typeof parseFlags>, environment: NodeJS.ProcessEnv): Readers {
  const text: Readers['text'] = (name) => {
    const value = flags[name] ?? environment[FLAGS[name].variable]
    return value === undefined || value === '' ? null : value
  }
  const number: Readers['number'] = (name, fallback, min, max = Infinity) => {
    const value = text(name)
    if (value === null) return fallback
    if (!/^\d+(\.\d+)?$/.test(value) || Number(value) < min)
      throw bad(name, `a number, at least ${min}`, value)
    if (Number(value) > max) throw bad(name, `a number, at most ${max}`, value)
    return Number(value)
  }
  const count: Readers['count'] = (name, fallback, min = 1, max = Infinity) => {
    const value = number(name, fallback, min, max)
    if (!Number.isInteger(value)) throw bad(name, 'a whole number', String(value))
    return value
  }
  const secret: Readers['secret'] = (name, form) => {
    const given = (flag: FlagName) => ({ title: title(flag), value: text(flag) })
    return readSecret(given(name), given(`${name}-file`), form)
  }
  return { text, number, count, secret }
}
