import { defineNitroModule } from 'nitropack/kit'

/**
 * Publishes every file under routes/ as the virtual module `#endpoints`: path, method and the exported contract. So a new
 * file is in the OpenAPI document without being registered anywhere.
 */
export default defineNitroModule({
  name: 'endpoints',
  setup(nitro) {
    nitro.options.virtual['#endpoints'] = () => {
      const routes = nitro.scannedHandlers.filter(
        (handler) => handler.route && handler.method && !handler.route.includes('**'),
      )
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
