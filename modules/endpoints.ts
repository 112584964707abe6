import { readFileSync } from 'node:fs'
import { defineNitroModule } from 'nitropack/kit'

/** The mark of a contract that says what a token must be allowed to call it, as every contract has it. */
const LEAST = /^  least: '(?:read|deploy|full)',$/m

/**
 * Publishes every file under routes/ as the virtual module `#endpoints`: path, method and the exported contract. So a new
 * file is in the OpenAPI document without being registered anywhere. Refuses a contract that does not say which tokens may
 * call it. `#readers` has those of GET requests for JSON, each loaded when it is asked for: the audit log reads by them what a
 * change is about.
 */
export default defineNitroModule({
  name: 'endpoints',
  setup(nitro) {
    const listed = () =>
      nitro.scannedHandlers.filter(
        (handler) => handler.route && handler.method && !handler.route.includes('**'),
      )
    nitro.options.virtual['#readers'] = () =>
      [
        'export const readers = {',
        ...listed()
          .filter(({ method }) => method === 'get')
          .map(
            ({ route, handler }) =>
              `  ${JSON.stringify(route)}: () => import(${JSON.stringify(handler)}).then((module) => module.default),`,
          ),
        '}',
      ].join('\n')
    nitro.options.virtual['#endpoints'] = () => {
      const routes = listed()
      for (const { handler } of routes)
        if (!LEAST.test(readFileSync(handler, 'utf8')))
          throw new Error(`${handler}: the contract lacks \`least\`: say which tokens may call it`)
      return [
        ...routes.map((route, index) => `import endpoint${index} from ${JSON.stringify(route.handler)}`),
        'export const endpoints = [',
        ...routes.map(
          (route, index) =>
            `  { path: ${JSON.stringify(route.route)}, method: ${JSON.stringify(route.method)}, handler: endpoint${index} },`,
        ),
        ']',
      ].join('\n')
    }
  },
})
