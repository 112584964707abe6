import { afterEach, beforeEach, expect, test } from 'vitest'
import { useContext } from '#server/context.ts'
import {
  createDrain,
  findDrain,
  openDestination,
  patchDrain,
  viewDrain,
} from '#server/log-drains/operations.ts'
import { LogDrainPatch } from '#server/log-drains/schema.ts'
import { drains } from '#server/log-drains/store.ts'
import {
  createNotification,
  findNotification,
  openUrl,
  patchNotification,
} from '#server/notifications/operations.ts'
import { notifications } from '#server/notifications/store.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
beforeEach(async () => ({ close } = await openContext()))
afterEach(() => close())

test.each(['https://a%zz:secret@logs.example.com/', 'tcp://logs.example.com'])(
  'a drain that was recorded as %s is named and disabled',
  (url) => {
    const kind = url.startsWith('tcp') ? 'syslog' : 'http'
    const valid = kind === 'syslog' ? 'tcp://logs.example.com:514' : 'https://logs.example.com'
    const { id } = createDrain({ kind, name: 'old', url: valid })
    drains.update(id, { url: useContext().vault.seal(url) })
    const changed = patchDrain(findDrain(id), { name: 'off', enabled: false })
    expect(viewDrain(changed)).toMatchObject({ name: 'off', enabled: false })
    expect(() => patchDrain(changed, { url: 'tcp://elsewhere' })).toThrow('url: must be')
  },
)

test('the shown value of a drain whose user name cannot be sent may be sent back', () => {
  const { id } = createDrain({ kind: 'http', name: 'old', url: 'https://logs.example.com' })
  const url = 'https://a%zz:secret@logs.example.com/'
  drains.update(id, { url: useContext().vault.seal(url) })
  const patch = LogDrainPatch.parse({ url: viewDrain(findDrain(id)).url })
  expect(openDestination(patchDrain(findDrain(id), patch)).url).toBe(url)
})

test('a notification that was recorded without a topic, or with a mail server, is named and disabled', () => {
  const { row } = createNotification({ kind: 'ntfy', name: 'old', url: 'https://ntfy.sh/topic' })
  notifications.update(row.id, { url: useContext().vault.seal('https://ntfy.sh//') })
  const changed = patchNotification(findNotification(row.id), { enabled: false })
  expect([changed.enabled, openUrl(changed)]).toEqual([0, 'https://ntfy.sh//'])
  expect(() => patchNotification(changed, { url: 'https://ntfy.sh/%zz' })).toThrow('must name a topic')
  notifications.update(row.id, { kind: 'email', url: null, recipients: '["ops@example.com"]' })
  const mail = patchNotification(findNotification(row.id), { enabled: true })
  expect([mail.enabled, mail.recipients]).toEqual([1, '["ops@example.com"]'])
  expect(() => patchNotification(mail, { to: ['dev@example.com'] })).toThrow('needs a mail server')
})
