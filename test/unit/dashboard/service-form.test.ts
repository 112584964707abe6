import { expect, test } from 'vitest'
import type { Service } from '../../../dashboard/src/api/types.ts'
import { assertSettings } from '#server/services/settings.ts'
import type { ServiceColumns } from '#server/services/store.ts'
import { SERVICE_TYPES, TYPES } from '#server/services/types.ts'
import {
  buildRuntimes,
  emptyForm,
  formOf,
  inputOf,
  patchOf,
  takesField,
  type SettingsForm,
} from '../../../dashboard/src/service/settings-form.ts'
import { disksIn, disksText } from '../../../dashboard/src/service/disk-lines.ts'
import { SERVICE_TYPE } from '../../../dashboard/src/service/type.ts'
import { suggestName } from '../../../dashboard/src/service/suggest-name.ts'

test.for([
  ['https://git.example.com/team/My_App.git', 'my-app'],
  ['https://git.example.com/team/app/', 'app'],
  ['git@git.example.com:team/billing.git', 'billing'],
  ['git@git.example.com:billing.git', 'billing'],
  ['registry.example.com:5000/team/api:1.4', 'api'],
  ['nginx:1.27', 'nginx'],
  ['nginx@sha256:0123456789abcdef', 'nginx'],
  ['2048-game.tar.gz', 'game'],
  ['', ''],
] as const)('a service from %s is suggested to be called %s', ([source, name]) => {
  expect(suggestName(source)).toBe(name)
})

test('a new service is sent only the filled-in fields that its source and type have', () => {
  const form = {
    ...emptyForm(),
    repo_url: ' https://git.example.com/a.git ',
    image: 'left over',
    port: '3000',
  }
  expect(inputOf(form, 'background_worker', 'git')).toEqual({
    type: 'background_worker',
    repo_url: 'https://git.example.com/a.git',
    runtime: 'auto',
    auto_deploy: true,
  })
  expect(inputOf(form, 'web_service', 'image')).toEqual({
    type: 'web_service',
    image: 'left over',
    port: 3000,
    runtime: 'image',
  })
})

const VALUES = {
  port: 3000,
  health_check_path: '/healthz',
  publish_dir: 'dist',
  schedule: '0 3 * * *',
  pre_deploy_command: 'true',
  drain_seconds: 0,
  max_shutdown_delay_seconds: 60,
  disks: '[{"name":"data","mount_path":"/data"}]',
  overlap_policy: 'override',
} satisfies Partial<Record<keyof SettingsForm, string | number>>

test.for(SERVICE_TYPES)('the form of a %s offers exactly the fields that the server accepts', (type) => {
  const base = {
    runtime: 'auto',
    instances: 1,
    ...(type === 'cron_job' && { schedule: '0 3 * * *' }),
  } as ServiceColumns
  const isTaken = (fields: object) => {
    try {
      assertSettings({ ...base, ...fields }, type)
      return true
    } catch {
      return false
    }
  }
  for (const [field, value] of Object.entries(VALUES))
    expect([field, takesField(field as keyof SettingsForm, type, 'git')]).toEqual([
      field,
      isTaken({ [field]: value }),
    ])
  expect(buildRuntimes(type).includes('static')).toBe(isTaken({ runtime: 'static' }))
  expect(SERVICE_TYPE[type]).toMatchObject({
    hasHosts: TYPES[type].hasHosts,
    listens: TYPES[type].listens,
    hasInstances: TYPES[type].hasInstances,
  })
})

test('disks are lines of a name and a path, of which a single one is only its path', () => {
  const two = [
    { name: 'data', mount_path: '/data' },
    { name: 'cache', mount_path: '/var/my cache' },
  ]
  for (const disks of [[], two.slice(0, 1), two.slice(1), two])
    expect(disksIn(disksText(disks))).toEqual(disks)
  expect(disksText(two.slice(0, 1))).toBe('/data')
  expect(disksIn(' \n/data \n cache   /cache')).toEqual([two[0], { name: 'cache', mount_path: '/cache' }])
})

test('files that are published as they are lose the build command', () => {
  const service = {
    memory_limit_mb: 0,
    cpu_limit: 0,
    port: null,
    runtime: 'auto',
    build_command: 'make',
    apt_packages: [] as string[],
    drain_seconds: 30,
    max_shutdown_delay_seconds: 30,
    disks: [] as Service['disks'],
  } as Service
  expect(patchOf(formOf(service), { ...formOf(service), runtime: 'static' })).toEqual({
    runtime: 'static',
    build_command: '',
  })
})
