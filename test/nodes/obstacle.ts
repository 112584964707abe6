import { lackForMachines } from '../stand/machines.ts'
import { say } from '../stand/run.ts'

/** Why several machines cannot be made here, so that their tests are skipped; null if they can. */
export const obstacle = await lackForMachines()
if (obstacle !== null) say(`tests of several machines are skipped: ${obstacle}`)
