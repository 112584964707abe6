import { expect, it } from 'vitest'
import { looksSecret } from '#server/blueprints/secret-values.ts'

it.each([
  'PRIVATE_KEY',
  'privateKey',
  'signingKey',
  'encryption-keys',
  'APIKeys',
  'ENCRYPTIONKEY',
  'SSHKEYs',
  'KEY2',
  'stripeKeyLive',
  'PRIVATEKEYPEM',
  'databaseDsn',
  'SENTRYDSN',
  'DSNUrl',
  'dbPass',
  'SMTPPASS',
  'FTPPWD',
  'BASICAUTH',
  'awsCreds',
  'GITHUBTOKEN',
])('a variable is a secret by its key %s', (key) => {
  expect(looksSecret(key, 'x')).toBe(true)
})

it.each([
  'MONKEY',
  'TURKEY_URL',
  'whiskeyKind',
  'DONKEYS',
  'HOCKEY_TEAM',
  'KEYCLOAK_URL',
  'COMPASS',
  'proxyBypass',
  'PASSENGERS',
  'AUTHOR',
  'LOG_LEVEL',
  'PORT',
])('a variable is none by its key %s', (key) => {
  expect(looksSecret(key, 'x')).toBe(false)
})
