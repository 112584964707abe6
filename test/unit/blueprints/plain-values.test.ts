import { expect, it } from 'vitest'
import { isPlainValue } from '#server/blueprints/plain-values.ts'

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
  expect(isPlainValue(key, 'true')).toBe(false)
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
])('a variable is not a secret by its key %s', (key) => {
  expect(isPlainValue(key, 'true')).toBe(true)
})

it.each([
  ['NODE_ENV', 'production'],
  ['LOG_LEVEL', 'debug'],
  ['TZ', 'Europe/Vienna'],
  ['AWS_REGION', 'eu-central-1'],
  ['PORT', '8080'],
  ['CACHE_TTL', '30s'],
  ['MAX_UPLOAD_MB', '512'],
  ['DEBUG', 'false'],
  ['EMPTY', ''],
  ['DATABASE_URL', '${{datastore.db.url}}'],
  [
    'DATABASE_URL',
    'postgres://${{datastore.db.username}}:${{datastore.db.password}}@${{datastore.db.host}}/app',
  ],
  ['PASSWORD', '${{datastore.db.password}}'],
  ['API_URL', 'https://api.example.com/v1/things'],
  ['API_URL', 'http://${{service.api.hostport}}'],
  ['API_URL', 'https://the-shop-of-berlin-2.eu-central-1.example.com/v2'],
])('%s may be read: %s', (key, value) => {
  expect(isPlainValue(key, value)).toBe(true)
})

// In parts that a scanner does not take for a real one.
it.each([
  ['STRIPE', ['sk', 'live', '4eC39HqLyjWDarjtT1zdp7dc'].join('_')],
  ['GITHUB', ['ghp', '16C7e42F292c6912E7710c838347Ae178B4a'].join('_')],
  ['AWS_ID', ['AKIA', 'IOSFODNN7EXAMPLE'].join('')],
  ['SESSION', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N'],
  ['CERTIFICATE', '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----'],
  ['NOTIFY_URL', 'https://hooks.slack.com/services/T000/B000/XXXX'],
  ['NOTIFY_URL', 'https://discord.com/api/webhooks/1/abc'],
  ['FILES_URL', 'https://files.example.com/container?sig=abc'],
  ['FILES_URL', 'https://files.example.com/a1b2c3d4e5f6a7b8/report'],
  ['FILES_URL', 'https://files.example.com/6f9619ff-8b86-d011-b42d-00c04fc964ff'],
  ['DATABASE_URL', 'postgres://app:hunter2@db.example.com/app'],
  ['QUEUE_URL', 'amqp://guest@queue.example.com'],
  ['PIN', '123456'],
  ['ADMIN_PIN_COUNT', '123456'],
  ['CARD_NUMBER', '411111111111'],
  ['BACKUP_URL', 'https://files.example.com/abcdefghijklmnopqrstuvwxyz'],
  ['NODE_ENV', 'a1b2c3d4e5f6a7b8c9'],
  ['GREETING', 'hello there'],
  ['NAME', '${{ not well-formed'],
])('%s is left to people: %s', (key, value) => {
  expect(isPlainValue(key, value)).toBe(false)
})
