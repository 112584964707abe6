import { expect, test } from 'vitest'
import { emptyForm, fieldProblem, inputOf } from '../../../dashboard/src/service/settings-form.ts'
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

test('a new service is sent only what was filled in and means something for its source and type', () => {
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

test("the field that a refusal names is told apart from the refusal's words", () => {
  expect(fieldProblem('port: must be at most 65535')).toEqual({
    field: 'port',
    text: 'Must be at most 65535',
  })
  expect(fieldProblem('env.0.key: must not be empty').field).toBe('env')
  expect(fieldProblem('the name api is in use: choose another')).toEqual({
    field: null,
    text: 'The name api is in use: choose another',
  })
})
