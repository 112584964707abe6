// Checks the types of the dashboard. vue-tsc needs the compiler in JavaScript, which TypeScript has up to version 6.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
require('vue-tsc').run(require.resolve('legacy-typescript/lib/tsc.js'))
