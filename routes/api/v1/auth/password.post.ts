import { changePassword } from '#server/accounts/operations.ts'
import { PasswordChange } from '#server/accounts/schema.ts'
import { sessionOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Change the password',
  description: 'Ends every other session.',
  auth: 'session',
  audit: 'account.password_changed',
  least: 'full',
  body: PasswordChange,
  errors: ['invalid_credentials', 'too_many_attempts'],
  handler: ({ principal, body }) => changePassword(body, sessionOf(principal)),
})
